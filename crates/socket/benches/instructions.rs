//! Round trips over a Unix socket whose ends one thread plays in turn, for callgrind to count.
//! `instructions ordinary|boxed|stamped COUNT`: over an endpoint of known type, over one in a box, as every run has it, or as
//! a breakdown has it. `count-instructions.sh` compares them.

use std::cell::Cell;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::Duration;

use bandgap_comm::{
    ActiveMessages, Answer, AnyEndpoint, AtBorder, Bulk, Call, Credited, DeadlineWatch, HandlerId,
    Handlers, Outcome, Rank, Stamp, Stamping, Timer, Waiting, Word,
};
use bandgap_socket::{SEND, Socket, SocketLink, Stamped, Stamper, Stream};

/// Every stamp is one later than the last one.
#[derive(Clone, Debug, Default)]
struct Steps(Cell<u64>);

impl Timer for Steps {
    fn stamp(&self) -> Stamp {
        self.0.set(self.0.get() + 1);
        Stamp::from_ticks(self.0.get())
    }

    fn work(&self, _: u32) {}
}

fn echo(_: &mut u64, call: Call<'_>, word: Word, _: Word, _: Word, _: Word) -> Outcome {
    call.reply(HandlerId(0), [word])
}

fn store(sum: &mut u64, _: Answer, word: Word, _: Word, _: Word, _: Word) {
    *sum += word;
}

fn endpoint<S: Stream>(rank: Rank, stream: S) -> Credited<SocketLink<S>> {
    let link = SocketLink::over(rank, vec![stream]).expect("one stream is not watched");
    Credited::new(link, 32)
}

fn end<E: Bulk>(endpoint: E) -> ActiveMessages<E, u64, DeadlineWatch> {
    let mut handlers = Handlers::default();
    handlers.request(echo);
    handlers.reply(store);
    let watch = DeadlineWatch(Duration::from_secs(10));
    ActiveMessages::new(endpoint, handlers, 0, Waiting::Spin, watch)
}

fn round_trips<E: Bulk>([near, far]: [E; 2], count: u64) {
    let (mut near, mut far) = (end(near), end(far));
    for _ in 0..count {
        near.request(1, HandlerId(0), [1]).expect("the far end takes it");
        while far.poll().expect("a request or nothing") == 0 {}
        while near.poll().expect("a reply or nothing") == 0 {}
    }
    assert_eq!(*near.state(), count, "each request has its reply");
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (Some(which), Some(count)) = (args.next(), args.next()) else {
        println!("for callgrind: see count-instructions.sh");
        return;
    };
    let Ok(count) = count.parse() else { return println!("ordinary|boxed|stamped COUNT") };
    let (near, far) = UnixStream::pair().expect("two ends of a socket");
    let [near, far] = [near, far].map(|end| Socket::of(end).expect("the system allows it"));
    if which == "stamped" {
        let stamper = Rc::new(Stamper::new(Steps::default()));
        stamper.begin(AtBorder::point(SEND));
        let [near, far] = [near, far].map(|end| Stamped::over(end, Rc::clone(&stamper)));
        round_trips([endpoint(0, near), endpoint(1, far)], count);
        assert_eq!(stamper.end().count, 2 * count, "each call that sends is timed");
        return;
    }
    let ends = [endpoint(0, near), endpoint(1, far)];
    match &*which {
        "boxed" => round_trips(ends.map(AnyEndpoint::of), count),
        _ => round_trips(ends, count),
    }
}
