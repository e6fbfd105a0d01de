//! What moves gRPC: a rank's wires and the runtime of its tasks, which run in the rank's thread while it polls.

use std::net::TcpStream;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use bandgap::transport::{CommError, Rank};
use rustix::event::{Timespec, poll};
use rustix::io::Errno;
use tokio::runtime::{Builder, Runtime};

use crate::service::{gone, set_up};
use crate::wire::{Io, Wire};

/// Tasks that run before the runtime looks for events, of which it has none.
const ALL: u32 = 1 << 20;
/// Sleep at most between two looks at the clock.
const MOMENT: Duration = Duration::from_millis(20);

pub struct Engine {
    runtime: Runtime,
    wires: Vec<Arc<Wire>>,
    wake: Vec<Waker>,
}

impl Engine {
    pub fn new() -> Result<Self, CommError> {
        // Without drivers: the rank itself looks at its sockets.
        let runtime = Builder::new_current_thread().event_interval(ALL).build().map_err(set_up)?;
        Ok(Self { runtime, wires: Vec::new(), wake: Vec::new() })
    }

    /// Adds a wire.
    pub fn wire(&mut self, peer: Rank, socket: TcpStream) -> Io {
        let (wire, io) = Wire::over(peer, socket);
        self.wires.push(wire);
        io
    }

    /// Does this within the runtime, then lets tasks run until none can go on, and sends what they wrote.
    pub fn turn<T>(&self, first: impl FnOnce() -> T) -> T {
        let done = self.runtime.block_on(async {
            let done = first();
            tokio::task::yield_now().await;
            done
        });
        self.wires.iter().for_each(|wire| wire.send());
        done
    }

    /// Looks at the wires, and lets the tasks run that can go on. Names the peers of which something came.
    pub fn look(&mut self, mut brought: impl FnMut(Rank)) {
        let mut wake = std::mem::take(&mut self.wake);
        for wire in &self.wires {
            if wire.look(&mut wake) {
                brought(wire.peer);
            }
        }
        if !wake.is_empty() {
            self.turn(|| wake.drain(..).for_each(Waker::wake));
        }
        self.wake = wake;
    }

    /// Connects: goes on until this is found.
    pub fn until<T>(
        &mut self,
        deadline: Instant,
        mut found: impl FnMut() -> Option<T>,
    ) -> Result<T, CommError> {
        loop {
            self.look(|_| ());
            if let Some(found) = found() {
                return Ok(found);
            }
            self.nobody_left()?;
            if Instant::now() > deadline {
                let what = "reach a peer by gRPC: it did not answer before the deadline";
                return Err(CommError::Connect(what.into()));
            }
            self.block(MOMENT)?;
        }
    }

    /// Fails if a connection has ended.
    pub fn nobody_left(&self) -> Result<(), CommError> {
        let left = self.wires.iter().find(|wire| wire.ended());
        left.map_or(Ok(()), |wire| Err(gone(wire.peer, "its connection has ended")))
    }

    /// Whether bytes to the peer wait for room.
    pub fn blocked(&self, peer: Rank) -> bool {
        self.wires.iter().any(|wire| wire.peer == peer && wire.blocked())
    }

    /// Wires with bytes that wait for room.
    pub fn unsent(&self) -> usize {
        self.wires.iter().filter(|wire| wire.blocked()).count()
    }

    /// Sleeps until bytes arrive or find room.
    pub fn block(&self, timeout: Duration) -> Result<(), CommError> {
        let mut sockets: Vec<_> = self.wires.iter().map(|wire| wire.awaited()).collect();
        match poll(&mut sockets, Timespec::try_from(timeout).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => {
                Err(CommError::System { operation: "wait for a socket", source: error.into() })
            }
        }
    }
}
