//! Plain loops of tonic, as its users write them: over sockets of tokio, without frames, handlers and credits.

use std::future::{Future, poll_fn, ready};
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use bandgap::transport::{
    Bare, CommError, Floor, FloorRole, Measuring, Rendezvous, Timer, Yields, tcp_peers,
};
use bytes::Bytes;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_stream::StreamExt as _;
use tonic::Response;

use crate::calls::Calls;
use crate::link::Way;
use crate::service::{Client, Parcel, call, client, serve_calls, set_up};
use crate::stream::{OnStream, called, serve_stream};

/// Results over the transport that a floor is compared with.
const WORDS: &[&str] = &["signature", "echo", "comms1"];
/// Fruitless polls between two looks at the clock, and a sleep between two.
const POLLS: u32 = 1 << 10;
const SLEEP: Duration = Duration::from_millis(200);
/// Turns of the runtime in which what was answered leaves.
const AFTER: u32 = 8;

/// A side of a floor.
#[allow(async_fn_in_trait, reason = "its futures stay in this crate")]
pub trait Side: Sized + 'static {
    const NAME: &'static str;
    const FLOORS: &'static [Floor];

    /// One of the two sides calls.
    async fn connect(socket: TcpStream, calls: bool) -> Result<Self, CommError>;
    /// Sends messages of one word and awaits the answers, or answers.
    async fn rounds(&mut self, rounds: u64, calls: bool) -> Result<(), CommError>;
}

/// A floor of gRPC, and the runtime that it takes.
pub struct Plain<S: Side> {
    runtime: Runtime,
    side: S,
}

impl<S: Side> Bare for Plain<S> {
    const NAME: &'static str = S::NAME;
    const HOSTS: bool = true;
    const FLOORS: &'static [Floor] = S::FLOORS;

    fn connect(_inherited: Vec<OwnedFd>, meeting: &mut Rendezvous<'_>) -> Result<Self, CommError> {
        let socket = tcp_peers(meeting)?.pop().ok_or_else(|| set_up("there is no peer"))?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(set_up)?;
        let (calls, deadline) = (meeting.rank == 0, meeting.deadline);
        let left = deadline.saturating_duration_since(Instant::now());
        let side = waited(&runtime, (false, left, &|waited, left| waited > left), async {
            S::connect(TcpStream::from_std(socket).map_err(set_up)?, calls).await
        })?;
        Ok(Self { runtime, side })
    }

    fn measure(
        &mut self,
        floor: &str,
        _bytes: usize,
        with: &Measuring<'_, impl Timer>,
    ) -> Result<Vec<u64>, CommError> {
        let manner = (!floor.ends_with("sleeping"), with.patience, with.give_up);
        if with.role == FloorRole::Responder {
            self.rounds(with.window.all_rounds(), false, manner)?;
            return Ok(Vec::new());
        }
        with.timed(|| self.rounds(with.window.rounds.into(), true, manner))
    }
}

/// Whether the runtime never sleeps, and when to give up.
type Manner<'a> = (bool, Duration, &'a dyn Fn(Duration, Duration) -> bool);

impl<S: Side> Plain<S> {
    fn rounds(&mut self, rounds: u64, calls: bool, manner: Manner<'_>) -> Result<(), CommError> {
        waited(&self.runtime, manner, async {
            self.side.rounds(rounds, calls).await?;
            for _ in 0..if calls { 0 } else { AFTER } {
                yield_now().await;
            }
            Ok(())
        })
    }
}

/// Runs this while the runtime polls as a rank does, or sleeps as users let it; but not for ever.
fn waited<T>(
    runtime: &Runtime,
    (polls, patience, give_up): Manner<'_>,
    it: impl Future<Output = Result<T, CommError>>,
) -> Result<T, CommError> {
    let mut it = pin!(it);
    let begun = Instant::now();
    let late = || give_up(begun.elapsed(), patience);
    let silent = || CommError::Connect("measure a floor: the other side is silent".into());
    runtime.block_on(async {
        while !polls {
            match timeout(SLEEP, it.as_mut()).await {
                Ok(done) => return done,
                Err(_) if late() => return Err(silent()),
                Err(_) => {}
            }
        }
        let mut awake = pin!(async {
            while !late() {
                for _ in 0..POLLS {
                    yield_now().await;
                }
            }
        });
        poll_fn(|cx| match it.as_mut().poll(cx) {
            Poll::Pending => awake.as_mut().poll(cx).map(|()| Err(silent())),
            done => done,
        })
        .await
    })
}

fn left(what: impl std::fmt::Display) -> CommError {
    CommError::Connect(format!("measure a floor: the other side has left: {what}").into())
}

/// As many bytes as a request of one word has.
fn parcel() -> Parcel {
    Parcel { frame: Bytes::from_static(&[0; 16]), ..Parcel::default() }
}

/// `client.call().await` in a loop, or who answers at once and notes it.
pub enum PlainCalls {
    Caller(Client),
    Callee(mpsc::UnboundedReceiver<()>),
}

impl Side for PlainCalls {
    const NAME: &'static str = Calls::NAME;
    #[rustfmt::skip] // One line each.
    const FLOORS: &'static [Floor] = &[
        Floor::new("grpc", "a call of tonic and its answer, half a round trip, polled", Yields::HalfRoundTrip, 20).compared(WORDS),
        Floor::new("grpc_sleeping", "the same, both sides sleeping", Yields::HalfRoundTrip, 20),
    ];

    async fn connect(socket: TcpStream, calls: bool) -> Result<Self, CommError> {
        if calls {
            return client(socket).await.map(Self::Caller);
        }
        let (count, counted) = mpsc::unbounded_channel();
        tokio::spawn(serve_calls(socket, move |request| {
            let _ = count.send(());
            ready(Ok(Response::new(request.into_inner())))
        }));
        Ok(Self::Callee(counted))
    }

    async fn rounds(&mut self, rounds: u64, _calls: bool) -> Result<(), CommError> {
        for _ in 0..rounds {
            match self {
                Self::Caller(client) => drop(call(client, parcel()).await.map_err(left)?),
                Self::Callee(counted) => counted.recv().await.ok_or_else(|| left("no call"))?,
            }
        }
        Ok(())
    }
}

impl Side for OnStream {
    const NAME: &'static str = <Self as Way>::NAME;
    #[rustfmt::skip] // One line each.
    const FLOORS: &'static [Floor] = &[
        Floor::new("grpc_stream", "a message of tonic's stream and its answer, half a round trip, polled", Yields::HalfRoundTrip, 20).compared(WORDS),
        Floor::new("grpc_stream_sleeping", "the same, both sides sleeping", Yields::HalfRoundTrip, 20),
    ];

    async fn connect(socket: TcpStream, calls: bool) -> Result<Self, CommError> {
        if calls {
            return called(socket).await;
        }
        let (ready, mut made) = mpsc::unbounded_channel();
        tokio::spawn(serve_stream(socket, move |ends| drop(ready.send(ends))));
        made.recv().await.ok_or_else(|| left("it made no call"))
    }

    async fn rounds(&mut self, rounds: u64, calls: bool) -> Result<(), CommError> {
        for round in 0..rounds + u64::from(calls) {
            if (calls, round) != (true, 0) {
                self.from.next().await.transpose().map_err(left)?;
            }
            if !calls || round < rounds {
                self.to.send(parcel()).map_err(left)?;
            }
        }
        Ok(())
    }
}
