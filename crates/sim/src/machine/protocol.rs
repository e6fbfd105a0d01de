//! What a message of bytes costs: LogGP, with parameters that depend on the message's length.

use bandgap_units::{Bytes, Ns};

use super::ns;

/// The costs of messages up to some length.
///
/// *Formula*: a message of n bytes costs its sender os, holds an interface for max(g, n·G), is
/// whole at its receiver L + n·G after it began to leave, and costs the receiver or.
/// *Assumptions*: both sides of an interface work at the same time; the processor is free while
/// bytes are under way; a sender does not ask its receiver.
/// *Source*: Alexandrov, Ionescu, Schauser, Scheiman, "LogGP: Incorporating Long Messages into the
/// LogP Model", SPAA 1995. There a message of n bytes takes (n − 1)·G, here n·G: so a message of 0
/// bytes costs what LogP says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Longest message. In the last protocol `u64::MAX`, or 0 where the file does not say what bytes
    /// cost.
    pub(super) up_to: u64,
    pub(super) send_overhead: u64,
    pub(super) recv_overhead: u64,
    pub(super) latency: u64,
    /// In femtoseconds: 10 GB/s are 100 ps a byte, and three digits are too few for a rate.
    pub(super) gap_per_byte: u64,
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
    /// The longest message that it carries; `None` for any length, as in the last protocol. Where a
    /// file does not say what bytes cost, there is one protocol, for messages of 0 bytes.
    pub fn up_to(&self) -> Option<Bytes> {
        (self.up_to < u64::MAX).then_some(Bytes(self.up_to))
    }

    /// os: time that a processor spends to send a message.
    pub fn send_overhead(&self) -> Ns {
        ns(self.send_overhead)
    }

    /// or: time that a processor spends to receive a message.
    pub fn recv_overhead(&self) -> Ns {
        ns(self.recv_overhead)
    }

    /// L: time that a message is under way, without overheads and bytes.
    pub fn latency(&self) -> Ns {
        ns(self.latency)
    }

    /// G: time for each byte; 1/G is the bandwidth of a long message.
    pub fn gap_per_byte(&self) -> Ns {
        Ns(self.gap_per_byte as f64 / 1e6)
    }

    #[inline]
    pub(super) fn costs(&self, bytes: u64) -> MessageCosts {
        // Cannot wrap: a product of two 64-bit numbers.
        let transfer = (u128::from(bytes) * u128::from(self.gap_per_byte) + 500) / 1000;
        MessageCosts {
            send_overhead: self.send_overhead,
            recv_overhead: self.recv_overhead,
            latency: self.latency,
            transfer: u64::try_from(transfer).unwrap_or(u64::MAX),
        }
    }
}

impl MessageCosts {
    /// os + L + or + n·G.
    pub(super) fn half_rtt(&self) -> u64 {
        (self.send_overhead + self.latency + self.recv_overhead).saturating_add(self.transfer)
    }
}

/// The costs of a message of `bytes` bytes; none where no protocol carries it. `protocols` ascend.
#[inline]
pub(super) fn costs(protocols: &[Protocol], bytes: u64) -> Option<MessageCosts> {
    let index = protocols.partition_point(|protocol| protocol.up_to < bytes);
    protocols.get(index).map(|protocol| protocol.costs(bytes))
}
