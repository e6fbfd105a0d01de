//! A message passing that needs no Active Messages, as a rig: verified by the same code.

use std::time::Instant;

use super::Obeys;
use crate::direct::{Direct, DirectId};
use bandgap_comm::{Comm, CommError, Part, Pending, Processor, Rank, Stamp, Work};
use bandgap_kernels::{Arrived, Failed, Needs, Order, Outcome, Rig, carry_out_passing, is_counted};

/// Tag of the messages by which ranks meet, which are not spoilt.
pub const MEETING: u32 = u32::MAX;

pub struct Native {
    direct: Direct,
    begin: Instant,
    marks: Vec<Stamp>,
    ranks: usize,
    orders: u64,
    received: u64,
    unclaimed: u64,
    /// The byte of memory that changes after the next program.
    pub spoilt: Option<usize>,
}

impl Native {
    pub fn new(direct: Direct) -> Self {
        Self {
            ranks: direct.size(),
            direct,
            begin: Instant::now(),
            marks: Vec::new(),
            orders: 0,
            received: 0,
            unclaimed: 0,
            spoilt: None,
        }
    }
}

impl Obeys for Native {
    fn obey(&mut self, order: &Order) -> Result<Outcome, Failed> {
        carry_out_passing(self, order)
    }
    fn idle(&mut self) -> bool {
        true
    }
}

impl Processor for Native {
    fn rank(&self) -> Rank {
        self.direct.rank()
    }
    fn size(&self) -> usize {
        self.ranks
    }
    fn mark(&mut self) {
        self.marks.push(Stamp::from_ticks(self.begin.elapsed().as_nanos() as u64));
    }
    fn compute(&mut self, work: Work) {
        self.direct.compute(work);
    }
}

impl Comm for Native {
    type Pending = DirectId;
    fn isend(&mut self, peer: Rank, tag: u32, from: Part) -> Result<Pending<DirectId>, CommError> {
        self.direct.isend(peer, tag, from)
    }
    fn irecv(&mut self, peer: Rank, tag: u32, into: Part) -> Result<Pending<DirectId>, CommError> {
        self.received += u64::from(is_counted(tag));
        self.direct.irecv(peer, tag, into)
    }
    fn wait(&mut self, pending: Pending<DirectId>) -> Result<(), CommError> {
        self.direct.wait(pending)
    }
    fn own(&mut self) -> Option<&mut [u8]> {
        self.direct.own()
    }
}

impl Rig for Native {
    fn whole(&self) -> usize {
        self.direct.size()
    }
    fn begin(&mut self, ranks: usize) -> u64 {
        self.ranks = ranks;
        self.orders += 1;
        self.orders
    }
    fn resize(&mut self, bytes: usize) {
        self.direct.memory.resize(bytes, 0);
    }
    fn prepare(&mut self, _needs: &Needs, marks: usize) {
        self.marks.clear();
        self.marks.reserve(marks);
    }
    fn memory(&mut self) -> &mut [u8] {
        &mut self.direct.memory
    }
    fn marks(&self) -> &[Stamp] {
        &self.marks
    }
    fn arrived(&self) -> Arrived {
        let (messages, unclaimed) = (self.received, self.unclaimed);
        Arrived { messages, unclaimed, ..Arrived::default() }
    }
    fn meet(&mut self) -> Result<(), CommError> {
        let (rank, nothing) = (self.rank(), Part::default());
        let others = if rank == 0 { 1..self.ranks } else { 0..1 };
        let send = |direct: &mut Direct, to| direct.send(to, MEETING, nothing);
        let recv = |direct: &mut Direct, from| direct.recv(from, MEETING, nothing);
        if rank > 0 {
            send(&mut self.direct, 0)?;
        }
        others.clone().try_for_each(|from| recv(&mut self.direct, from))?;
        if rank == 0 {
            others.clone().try_for_each(|to| send(&mut self.direct, to))?;
        }
        Ok(())
    }
    fn settle(&mut self) -> Result<(), CommError> {
        self.unclaimed = self.direct.untaken()? as u64;
        if let Some(at) = self.spoilt.take() {
            self.direct.memory[at] ^= 1;
        }
        Ok(())
    }
    fn forget(&mut self) {
        self.received = 0;
    }
}
