//! Stand-in.
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use bandgap_conformance::comm::{Rendezvous, Transport};
use bandgap_conformance::conforms;

fn connected<T: Transport>(size: usize, exposed: usize) -> Vec<T::Endpoint>
where
    T::Endpoint: Send,
{
    let told = Mutex::new(vec![String::new(); size]);
    let barrier = Barrier::new(size);
    std::thread::scope(|scope| {
        let (told, barrier) = (&told, &barrier);
        let threads: Vec<_> = (0..size)
            .map(|rank| {
                scope.spawn(move || {
                    let mut meeting = Rendezvous {
                        rank,
                        size,
                        secret: [7; 16],
                        deadline: Instant::now() + Duration::from_secs(30),
                        library: None,
                        interface: IpAddr::V4(Ipv4Addr::LOCALHOST),
                        exchange: &mut |own| {
                            told.lock().unwrap()[rank] = own;
                            barrier.wait();
                            let all = told.lock().unwrap().clone();
                            barrier.wait();
                            Ok(all)
                        },
                    };
                    T::connect(Vec::new(), exposed, &mut meeting).unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

conforms!(endpoint calls(size, exposed) { connected::<grpc::Calls>(size, exposed) });
conforms!(passing calls_passing(size, exposed) { connected::<grpc::Calls>(size, exposed) });
conforms!(endpoint stream(size, exposed) { connected::<grpc::OnStream>(size, exposed) });
conforms!(passing stream_passing(size, exposed) { connected::<grpc::OnStream>(size, exposed) });
