//! Many bytes one way.

use std::time::Duration;

use bandgap_comm::{Role, Timer, Window};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::Pipe;
use super::ping_pong::failed;
use super::silence::Silence;
use crate::SocketError;

/// Bytes of each of [`Window::rounds`] writes.
pub const STREAM_BYTES: usize = 1 << 20;

/// Times, in each sample, [`Window::rounds`] writes of [`STREAM_BYTES`], each until the responder,
/// which has read them, answers with one byte.
///
/// The writer waits for the answers since the reader is the slower of the two: one that runs ahead
/// fills the socket's buffers with more than the nearest caches hold, and then each byte is fetched
/// from further away than the wait costs. At last the responder compares the
/// last [`STREAM_BYTES`] with what must have been sent.
///
/// # Errors
/// The other side closed its socket, sent wrong bytes, or was silent for `patience`; the operating
/// system refused.
pub fn stream<P: Pipe, T: Timer>(
    socket: &P,
    role: Role,
    window: Window,
    timer: &T,
    patience: Duration,
) -> Result<Vec<u64>, SocketError> {
    const { assert!(!P::LOSES, "what is lost is not sent again") };
    let pattern: Vec<u8> = (0..STREAM_BYTES).map(byte_at).collect();
    let mut side = Side { socket, silence: Silence::new(patience) };
    let mut samples = Vec::new();
    match role {
        Role::Initiator => {
            samples.reserve_exact(window.samples as usize);
            let mut answer = [0];
            for _ in 0..window.samples {
                let start = timer.stamp();
                for _ in 0..window.rounds {
                    side.write(&pattern)?;
                    side.read(&mut answer)?;
                }
                samples.push(timer.stamp().ticks() - start.ticks());
            }
        }
        Role::Responder => {
            let mut arrived = vec![0; STREAM_BYTES];
            for _ in 0..window.samples {
                for _ in 0..window.rounds {
                    side.read(&mut arrived)?;
                    side.write(&[0])?;
                }
            }
            // After the last sample only: the writer does not wait for this.
            let messages = u64::from(window.samples) * u64::from(window.rounds);
            if messages > 0 && arrived != pattern {
                return Err(SocketError::Corrupt { what: "a wrong byte arrived" });
            }
        }
    }
    Ok(samples)
}

/// The pattern: its period is prime, so that a shift by any power of two is seen.
fn byte_at(position: usize) -> u8 {
    (position % 251) as u8
}

struct Side<'a, P> {
    socket: &'a P,
    silence: Silence,
}

impl<P: Pipe> Side<'_, P> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), SocketError> {
        let mut sent = 0;
        while sent < bytes.len() {
            match send(self.socket, &bytes[sent..], SendFlags::NOSIGNAL) {
                Ok(more) => {
                    sent += more;
                    self.silence.ends();
                }
                Err(Errno::AGAIN | Errno::INTR) => {
                    self.silence.goes_on()?;
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<(), SocketError> {
        let mut received = 0;
        while received < bytes.len() {
            match recv(self.socket, &mut bytes[received..], RecvFlags::empty()) {
                Ok((0, _)) => return Err(SocketError::Closed),
                Ok((more, _)) => {
                    received += more;
                    self.silence.ends();
                }
                Err(Errno::AGAIN | Errno::INTR) => {
                    self.silence.goes_on()?;
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }
}
