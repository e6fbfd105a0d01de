//! What a message of bytes costs: LogGP, with parameters that depend on the message's length; and when it moves.

use serde::Deserialize;

/// The costs of messages up to some length.
///
/// *Formula*: a message of n bytes costs its sender os, holds an interface for max(g, n·G), is
/// whole at its receiver L + (hops − 1)·h + n·G after it began to leave, and costs the receiver or.
/// *Assumptions*: both sides of an interface work at the same time; the processor is free while
/// bytes are under way; a sender does not ask its receiver.
/// *Source*: Alexandrov, Ionescu, Schauser, Scheiman, "LogGP: Incorporating Long Messages into the
/// LogP Model", SPAA 1995. There a message of n bytes takes (n − 1)·G, here n·G: so a message of 0
/// bytes costs what LogP says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// The longest message that it carries, in bytes; `u64::MAX` in the last protocol.
    pub up_to: u64,
    /// os: time in picoseconds that a processor spends to send a message.
    pub send_overhead: u64,
    /// or: time in picoseconds that a processor spends to receive a message.
    pub recv_overhead: u64,
    /// L: time in picoseconds that a message is under way, without overheads and bytes.
    pub latency: u64,
    /// h: time in picoseconds that each hop beyond the first adds to L; nothing where all ranks are one
    /// hop apart.
    pub hop: u64,
    /// G: time for each byte; 1/G is the bandwidth of a long message. In femtoseconds: 10 GB/s are
    /// 100 ps a byte, and three digits are too few for a rate.
    pub gap_per_byte: u64,
}

/// What one message costs, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageCosts {
    pub send_overhead: u64,
    pub recv_overhead: u64,
    pub latency: u64,
    /// n·G.
    pub transfer: u64,
}

impl Protocol {
    pub(super) fn costs(&self, bytes: u64) -> MessageCosts {
        MessageCosts {
            send_overhead: self.send_overhead,
            recv_overhead: self.recv_overhead,
            latency: self.latency,
            transfer: thousandths(bytes, self.gap_per_byte),
        }
    }
}

/// A product in thousandths, rounded. Nearly all fit into 64 bits, which are divided fast.
pub(super) fn thousandths(one: u64, other: u64) -> u64 {
    match one.checked_mul(other).and_then(|product| product.checked_add(500)) {
        Some(product) => product / 1000,
        None => {
            let product = (u128::from(one) * u128::from(other) + 500) / 1000;
            u64::try_from(product).unwrap_or(u64::MAX)
        }
    }
}

/// Whether messages move while a processor computes.
///
/// It concerns sends that a program begins and does not wait for at once
/// ([`Comm::isend`](bandgap_comm::Comm::isend)). Where messages move by themselves, the time under
/// way and the time for bytes hide behind a computation; overheads never do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// They move by themselves: a send leaves when it begins.
    #[default]
    Asynchronous,
    /// They move only in calls that wait: all sends begun so far leave at the next wait, blocking
    /// send or receive, exchange, or barrier, in the order in which they began. So an exchange that
    /// both ranks have begun hides nothing behind a computation.
    Synchronous,
}
