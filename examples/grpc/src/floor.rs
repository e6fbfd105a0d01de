//! Plain loops of tonic, as its users write them: over sockets of tokio, without frames, handlers and credits.

use std::future::{Future, poll_fn, ready};
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::seam::{
    Bare, CommError, Floor, FloorRole, Measuring, Rank, Rendezvous, Timer, Transport, Window,
    Yields, tcp_peers,
};
use bytes::Bytes;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, mpsc};
use tokio::task::yield_now;
use tokio::time::{timeout, timeout_at};
use tokio_stream::StreamExt as _;
use tonic::Response;

use crate::service::{Client, Parcel, call, client, gone, serve_calls, set_up};
use crate::stream::{Ends, called, serve_stream};
use crate::{Calls, OnStream};

/// Results over the transport that the polling floors are compared with.
const WORDS: &[&str] = &["signature", "echo", "comms1"];
/// Fruitless polls between two looks at the clock, and a sleep between two.
const POLLS: u32 = 1 << 10;
const SLEEP: Duration = Duration::from_millis(200);
/// Turns of the runtime in which what was answered leaves.
const AFTER: u32 = 8;

/// What a floor takes besides its rounds.
struct Manner<'a> {
    polls: bool,
    patience: Duration,
    give_up: &'a dyn Fn(Duration, Duration) -> bool,
}

impl<'a> Manner<'a> {
    fn of(floor: &str, with: &Measuring<'a, impl Timer>) -> Self {
        let &Measuring { patience, give_up, .. } = with;
        Self { polls: !floor.ends_with("sleeping"), patience, give_up }
    }

    /// Runs this while the runtime never sleeps, as a rank polls, or as it is; but not for ever.
    fn run<T>(
        &self,
        runtime: &Runtime,
        it: impl Future<Output = Result<T, CommError>>,
    ) -> Result<T, CommError> {
        let mut it = pin!(it);
        let begun = Instant::now();
        let late = || (self.give_up)(begun.elapsed(), self.patience);
        let silent = || Err(CommError::Connect("measure a floor: the other side is silent".into()));
        runtime.block_on(async {
            if !self.polls {
                loop {
                    match timeout(SLEEP, it.as_mut()).await {
                        Ok(done) => return done,
                        Err(_) if late() => return silent(),
                        Err(_) => {}
                    }
                }
            }
            let mut awake = pin!(async {
                loop {
                    for _ in 0..POLLS {
                        yield_now().await;
                    }
                    if late() {
                        return;
                    }
                }
            });
            poll_fn(|cx| match it.as_mut().poll(cx) {
                Poll::Pending => awake.as_mut().poll(cx).map(|()| silent()),
                done => done,
            })
            .await
        })
    }
}

fn runtime() -> Result<Runtime, CommError> {
    Builder::new_current_thread().enable_all().build().map_err(set_up)
}

/// The socket to the only peer.
fn socket(meeting: &mut Rendezvous<'_>) -> Result<std::net::TcpStream, CommError> {
    tcp_peers(meeting)?.into_iter().next().ok_or_else(|| set_up("there is no peer"))
}

/// Connects, but not for ever.
fn connected<T>(
    runtime: &Runtime,
    (peer, deadline): (Rank, Instant),
    it: impl Future<Output = Result<T, CommError>>,
) -> Result<T, CommError> {
    let late = |_| gone(peer, "it did not answer before the deadline");
    runtime.block_on(async { timeout_at(deadline.into(), it).await.map_err(late)? })
}

/// As many bytes as a request of one word has.
fn parcel() -> Parcel {
    Parcel { frame: Bytes::from_static(&[0; 16]), ..Parcel::default() }
}

/// `client.call().await` in a loop; the callee answers at once.
pub struct PlainCalls {
    runtime: Runtime,
    client: Option<Client>,
    /// Calls that were answered.
    served: Arc<(AtomicU64, Notify)>,
    expected: u64,
}

impl PlainCalls {
    fn over(
        socket: std::net::TcpStream,
        calls: bool,
        by: (Rank, Instant),
    ) -> Result<Self, CommError> {
        let (runtime, served) = (runtime()?, Arc::<(AtomicU64, Notify)>::default());
        let answered = Arc::clone(&served);
        let client = connected(&runtime, by, async {
            let socket = TcpStream::from_std(socket).map_err(set_up)?;
            if calls {
                return client(socket).await.map(Some);
            }
            tokio::spawn(serve_calls(socket, move |request| {
                answered.0.fetch_add(1, Ordering::Relaxed);
                answered.1.notify_one();
                ready(Ok(Response::new(request.into_inner())))
            }));
            Ok(None)
        })?;
        Ok(Self { runtime, client, served, expected: 0 })
    }

    /// So many calls, or as many answers.
    fn rounds(&mut self, rounds: u64, manner: &Manner<'_>) -> Result<(), CommError> {
        let Self { runtime, client, served, expected } = self;
        let Some(client) = client else {
            *expected += rounds;
            return manner.run(runtime, async {
                while served.0.load(Ordering::Relaxed) < *expected {
                    served.1.notified().await;
                }
                for _ in 0..AFTER {
                    yield_now().await;
                }
                Ok(())
            });
        };
        manner.run(runtime, async {
            for _ in 0..rounds {
                call(client, parcel()).await.map_err(|status| gone(1, status))?;
            }
            Ok(())
        })
    }
}

impl Bare for PlainCalls {
    const NAME: &'static str = Calls::NAME;
    const HOSTS: bool = true;
    #[rustfmt::skip] // One line each.
    const FLOORS: &'static [Floor] = &[
        Floor::new("grpc", "a call of tonic and its answer, half a round trip, polled", Yields::HalfRoundTrip, 20).compared(WORDS),
        Floor::new("grpc_sleeping", "the same, both sides sleeping", Yields::HalfRoundTrip, 20),
    ];

    fn connect(_inherited: Vec<OwnedFd>, meeting: &mut Rendezvous<'_>) -> Result<Self, CommError> {
        let socket = socket(meeting)?;
        Self::over(socket, meeting.rank == 0, (1 - meeting.rank, meeting.deadline))
    }

    fn measure(
        &mut self,
        floor: &str,
        _bytes: usize,
        with: &Measuring<'_, impl Timer>,
    ) -> Result<Vec<u64>, CommError> {
        let (manner, window) = (Manner::of(floor, with), with.window);
        timed(with, window, |rounds| self.rounds(rounds, &manner))
    }
}

/// A message and its answer in a loop, on one stream.
pub struct PlainStream {
    runtime: Runtime,
    ends: Ends,
}

impl PlainStream {
    fn over(
        socket: std::net::TcpStream,
        calls: bool,
        by: (Rank, Instant),
    ) -> Result<Self, CommError> {
        let runtime = runtime()?;
        let ends = connected(&runtime, by, async {
            let socket = TcpStream::from_std(socket).map_err(set_up)?;
            if calls {
                return called(socket).await;
            }
            let (ready, mut made) = mpsc::unbounded_channel();
            tokio::spawn(serve_stream(socket, move |ends| {
                let _ = ready.send(ends);
            }));
            made.recv().await.ok_or_else(|| gone(by.0, "it made no call"))
        })?;
        Ok(Self { runtime, ends })
    }

    fn rounds(
        &mut self,
        rounds: u64,
        role: FloorRole,
        manner: &Manner<'_>,
    ) -> Result<(), CommError> {
        let Self { runtime, ends: Ends { to, from } } = self;
        let initiates = role == FloorRole::Initiator;
        let left = |what: &str| gone(usize::from(initiates), what);
        manner.run(runtime, async {
            for _ in 0..rounds {
                if initiates {
                    to.send(parcel()).await.map_err(|_| left("it takes no more"))?;
                }
                let arrived = from.next().await.transpose();
                arrived.map_err(|status| left(status.message()))?;
                if !initiates {
                    to.send(parcel()).await.map_err(|_| left("it takes no more"))?;
                }
            }
            for _ in 0..if initiates { 0 } else { AFTER } {
                yield_now().await;
            }
            Ok(())
        })
    }
}

impl Bare for PlainStream {
    const NAME: &'static str = OnStream::NAME;
    const HOSTS: bool = true;
    #[rustfmt::skip] // One line each.
    const FLOORS: &'static [Floor] = &[
        Floor::new("grpc_stream", "a message of tonic's stream and its answer, half a round trip, polled", Yields::HalfRoundTrip, 20).compared(WORDS),
        Floor::new("grpc_stream_sleeping", "the same, both sides sleeping", Yields::HalfRoundTrip, 20),
    ];

    fn connect(_inherited: Vec<OwnedFd>, meeting: &mut Rendezvous<'_>) -> Result<Self, CommError> {
        let socket = socket(meeting)?;
        Self::over(socket, meeting.rank == 0, (1 - meeting.rank, meeting.deadline))
    }

    fn measure(
        &mut self,
        floor: &str,
        _bytes: usize,
        with: &Measuring<'_, impl Timer>,
    ) -> Result<Vec<u64>, CommError> {
        let (manner, role, window) = (Manner::of(floor, with), with.role, with.window);
        timed(with, window, |rounds| self.rounds(rounds, role, &manner))
    }
}

/// All samples, timed at the initiator.
fn timed(
    with: &Measuring<'_, impl Timer>,
    window: Window,
    mut rounds: impl FnMut(u64) -> Result<(), CommError>,
) -> Result<Vec<u64>, CommError> {
    if with.role == FloorRole::Responder {
        rounds(window.all_rounds())?;
        return Ok(Vec::new());
    }
    with.timed(|| rounds(window.rounds.into()))
}
