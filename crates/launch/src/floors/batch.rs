//! One batch of one floor or layer, on either rank.

use std::time::{Duration, Instant};

use bandgap_comm::{Bulk, Delay, Role, Watch, Window};
use bandgap_host::process::read_process;
use bandgap_kernels::{Job, Kernel, MessageState, Pattern};
use bandgap_shm::floor as memory;
use bandgap_socket::floor as socket;

use super::bench::Bench;
use super::ticks::{LOCAL_SCALE, Ticks};
use crate::live::{ProbeTicks, Station};
use crate::watch::RankWatch;
use bandgap_campaign::floors::{Floor, Kind, Over};
use bandgap_campaign::runner::Stop;

/// Samples of one batch.
const SAMPLES: u32 = 20;
/// Longest wait for a system call that may be refused.
const REFUSED: Duration = Duration::from_secs(1);

impl Bench {
    /// One batch between two placement probes, in ticks.
    pub(super) fn bracketed(
        &mut self,
        floor: &Floor,
    ) -> Result<(Ticks, Option<[ProbeTicks; 2]>), Stop> {
        let before = self.shm.probe_as(self.role)?;
        let ticks = self.run(floor)?;
        let after = self.shm.probe_as(self.role)?;
        Ok((ticks, before.zip(after).map(|(before, after)| [before, after])))
    }

    fn run(&mut self, floor: &Floor) -> Result<Ticks, Stop> {
        self.epoch += 1;
        let window = Window { samples: SAMPLES, rounds: floor.rounds };
        let (role, epoch, timer, patience) = (self.role, self.epoch, &self.clock, self.patience);
        let begun = Instant::now();
        let control = &self.control;
        let give_up = |limit: Duration| {
            move || {
                std::thread::yield_now();
                control.stopped() || control.poisoned().is_some() || begun.elapsed() > limit
            }
        };
        let give_up_late = give_up(patience);
        let area = &self.area;
        let ticks = match floor.kind {
            Kind::CacheLine => memory::cache_line(area, epoch, role, window, timer, give_up_late),
            Kind::SlotRing => memory::slot_ring(area, epoch, role, window, timer, give_up_late),
            Kind::SlotRingStream => {
                memory::slot_ring_stream(area, epoch, role, window, timer, give_up_late)
            }
            Kind::CopyCrossCore => {
                let bytes = floor.bytes();
                memory::copy_cross_core(area, epoch, role, window, bytes, timer, give_up_late)
            }
            Kind::StoreCrossCore => {
                let bytes = floor.bytes();
                memory::store_cross_core(area, epoch, role, window, bytes, timer, give_up_late)
            }
            Kind::CopyPipeline => {
                let bytes = floor.bytes();
                memory::copy_pipeline(area, epoch, role, window, bytes, timer, give_up_late)
            }
            Kind::CopyVmReadv => {
                let bytes = floor.bytes();
                let read = |process, address, into: &mut [u8]| {
                    let wanted = into.len();
                    match read_process(process, address, into) {
                        Ok(read) if read == wanted => Ok(()),
                        Ok(_) => Err(std::io::Error::other("fewer bytes than asked")),
                        Err(error) => Err(std::io::Error::other(error.to_string())),
                    }
                };
                // Refused in some containers: the responder notices by waiting in vain.
                let refused = give_up(REFUSED);
                return Ok(memory::copy_vm_readv(
                    area, epoch, role, window, bytes, timer, read, refused,
                )
                .map_err(|error| error.to_string()));
            }
            Kind::CopyLocal => match role {
                Role::Initiator => memory::copy_local(window, floor.bytes(), timer),
                Role::Responder => Ok(Vec::new()),
            },
            Kind::Tcp => {
                return from_socket(socket::ping_pong(
                    &self.raw_tcp,
                    role,
                    window,
                    timer,
                    patience,
                ));
            }
            Kind::Unix => {
                return from_socket(socket::ping_pong(
                    &self.raw_unix,
                    role,
                    window,
                    timer,
                    patience,
                ));
            }
            Kind::Udp => {
                return from_socket(socket::ping_pong(
                    &self.raw_udp,
                    role,
                    window,
                    timer,
                    patience,
                ));
            }
            Kind::TcpStream => {
                return from_socket(socket::stream(&self.raw_tcp, role, window, timer, patience));
            }
            Kind::UnixStream => {
                return from_socket(socket::stream(&self.raw_unix, role, window, timer, patience));
            }
            Kind::ClockRead | Kind::SystemCall => return Ok(Ok(self.local(floor.kind))),
            Kind::Layer(kernel, over) => {
                let job = job(kernel, window, floor.bytes());
                return match over {
                    Over::Shm => layer_ticks(&mut self.shm, &job),
                    Over::Tcp => layer_ticks(&mut self.tcp, &job),
                    Over::Unix => layer_ticks(&mut self.unix, &job),
                    Over::Udp => layer_ticks(&mut self.udp, &job),
                };
            }
        };
        match ticks {
            Ok(ticks) => Ok(Ok(ticks)),
            Err(error) => {
                self.shm.executor().active().watch_mut().check(Duration::ZERO, "a floor")?;
                Err(Stop::Floor(error.to_string()))
            }
        }
    }

    /// Floors that one rank measures by itself.
    fn local(&self, kind: Kind) -> Vec<u64> {
        if self.role == Role::Responder {
            return Vec::new();
        }
        let samples = SAMPLES as usize;
        let ns = match kind {
            Kind::ClockRead => bandgap_host::floor::clock_read(&self.clock, samples),
            _ => bandgap_host::floor::system_call(&self.clock, samples),
        };
        // These are means over many operations: kept to a thousandth of a tick.
        ns.iter().map(|ns| (ns / self.clock.ns_per_tick() * LOCAL_SCALE).round() as u64).collect()
    }
}

fn from_socket(ticks: Result<Vec<u64>, bandgap_socket::SocketError>) -> Result<Ticks, Stop> {
    ticks.map(Ok).map_err(|error| Stop::Floor(error.to_string()))
}

fn layer_ticks<E: Bulk>(
    station: &mut Station<E, RankWatch, MessageState>,
    job: &Job,
) -> Result<Ticks, Stop> {
    let samples = station.executor().execute_messages(job)?;
    // The next batch may be over something else, and this is not polled meanwhile.
    station.executor().active().settle()?;
    // A transfer ends when it is complete, not when it is issued.
    Ok(Ok(if job.moves_bytes() { samples.drained } else { samples.issue }))
}

fn job(kernel: Kernel, window: Window, bytes: usize) -> Job {
    Job {
        kernel,
        pattern: Pattern::OneToOne { requester: 0, replier: 1 },
        messages: window.rounds,
        samples: window.samples,
        bytes: bytes as u32,
        delay: Delay::NONE,
        probed: false,
    }
}
