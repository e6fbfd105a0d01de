//! Runs and verifies one batch of one kernel on one rank.

use std::collections::BTreeMap;

use bandgap_comm::{Rank, Result};

use super::content::Turn;
use super::words::Expected;
use crate::facts::ready;
use crate::outcome::Counted;
use crate::{
    Arrived, Checked, Expects, Failed, Flaw, Kernel, Order, Outcome, Placed, Places, Rig, Round,
    Seat, Shape, Tally, Wrong,
};

/// Carries out this rank's part of `order`, with `run` as the program. A timed batch runs once,
/// with all samples. A checked batch runs sample by sample. Ranks meet before each, so that no
/// memory is filled too late, and after it, so that none is compared too early.
pub(crate) fn batch<M: Rig, K: Kernel>(
    rig: &mut M,
    order: &Order,
    run: impl Fn(&mut M, &K, &Places, Round) -> Result<()>,
) -> Result<Outcome, Failed> {
    let (kernel, places) = ready::<K>(order, rig.whole())?;
    let turn = rig.begin(order.ranks) << TURNS;
    let (way, refused) = rig.go(order.way.unwrap_or_default());
    let rank = rig.rank();
    if rank >= order.ranks {
        return Ok(Outcome::default());
    }
    rig.resize(places.memory());
    let each = kernel.operations().filter(|_| order.shape == Shape::Osu);
    let each = each.map(|each| 2 * each as usize * order.samples as usize);
    rig.prepare(&kernel.needs(order.ranks), each.unwrap_or(kernel.marks(order.samples)));
    let (samples, shape) = (if order.checked { 1 } else { order.samples }, order.shape);
    let mut expects = kernel.expects(&Seat { rank, size: order.ranks, samples, places });
    if !order.checked {
        keep_last(&mut expects.fills);
        keep_last(&mut expects.arrivals);
    }
    let (checked, sums) = (order.checked, Checked::default());
    let mut batch = Batch { rank, checked, samples, expects, sums, wrong: None };
    let [timed, other] = kernel.timed(order.ranks);
    let partner = if rank == timed { other } else { timed };
    let mut once = |rig: &mut M, turn| {
        rig.turn(turn, partner);
        batch.round(rig, turn, |rig| run(rig, &kernel, &places, Round { samples, shape, turn }))
    };
    let ran = match order.checked {
        false => once(rig, turn),
        true => (0..order.samples.into()).try_for_each(|sample| once(rig, turn | sample)),
    };
    batch.end(rig, ran).map(|outcome| Outcome { way, refused, ..outcome })
}

/// Bits of a turn that number the samples of an order.
const TURNS: u32 = 32;

struct Batch {
    rank: Rank,
    checked: bool,
    samples: u32,
    /// Expected contents. Of messages that share a place, only the last one.
    expects: Expects,
    sums: Checked,
    wrong: Option<Wrong>,
}

/// Keeps only the last of those at the same place.
fn keep_last(placed: &mut Vec<Placed>) {
    let places: BTreeMap<usize, Placed> = placed.drain(..).map(|p| (p.part.at, p)).collect();
    placed.extend(places.into_values());
}

impl Batch {
    fn found(&mut self, flaw: Option<Flaw>) {
        let rank = self.rank;
        self.wrong = self.wrong.take().or(flaw.map(|flaw| Wrong { rank, flaw }));
    }

    /// Runs the program once, and compares what arrived.
    fn round<M: Rig>(
        &mut self,
        rig: &mut M,
        turn: u64,
        run: impl FnOnce(&mut M) -> Result<()>,
    ) -> Result<()> {
        let contents = Turn { turn, shared: !self.checked };
        for placed in &self.expects.arrivals {
            contents.poison(rig.memory(), placed)?;
        }
        // After the poison: what is sent may come back to the same place.
        for placed in &self.expects.fills {
            contents.fill(rig.memory(), placed)?;
        }
        if self.checked {
            let most = self.words(turn).map(|words| words.count()).into_iter().max().unwrap_or(0);
            // Room for one more than expected shows that there are too many.
            rig.note_words(usize::try_from(most).unwrap_or(usize::MAX).saturating_add(1));
            rig.meet()?;
        }
        run(rig)?;
        rig.settle()?;
        if self.checked {
            rig.meet()?;
            rig.settle()?;
            rig.note_words(0);
        }
        self.compare_words(rig, turn);
        self.compare_messages(rig, contents)?;
        rig.forget();
        Ok(())
    }

    fn words(&self, turn: u64) -> [Expected<'_>; 2] {
        let (rank, Expects { requests, replies, .. }) = (self.rank, &self.expects);
        let words = |(reply, sequences)| Expected { rank, turn, reply, sequences };
        [(false, &requests[..]), (true, replies)].map(words)
    }

    fn compare_words<M: Rig>(&mut self, rig: &M, turn: u64) {
        let Tally { served, served_sum, replies, reply_sum, .. } = rig.arrived().tally;
        let log = rig.log().filter(|_| self.checked);
        let got = [
            (served, served_sum, log.map(|log| &log.requests)),
            (replies, reply_sum, log.map(|log| &log.replies)),
        ];
        let flaws: Vec<Option<Flaw>> = (self.words(turn).iter().zip(got))
            .map(|(words, (count, sum, log))| {
                let by_word = log.and_then(|log| words.compare_each(log));
                by_word.or_else(|| words.compare_sum(count, sum))
            })
            .collect();
        flaws.into_iter().for_each(|flaw| self.found(flaw));
        let count = served + replies;
        self.sums.received += count;
        *(if log.is_some() { &mut self.sums.compared } else { &mut self.sums.summed }) += count;
    }

    fn compare_messages<M: Rig>(&mut self, rig: &mut M, contents: Turn) -> Result<()> {
        let noticed = rig.noticed();
        self.wrong = self.wrong.take().or(noticed);
        let Arrived { messages, blocks, blocks_compared, .. } = rig.arrived();
        self.sums.received += messages + blocks;
        self.sums.compared += blocks_compared;
        let mut compared = 0;
        for placed in &self.expects.arrivals {
            let flaw = contents.compare(rig.memory(), placed)?;
            compared += placed.messages;
            // Only the first error is reported.
            self.wrong = self.wrong.take().or(flaw.map(|flaw| Wrong { rank: self.rank, flaw }));
        }
        self.sums.compared += messages.min(compared);
        let expected = self.expects.messages * u64::from(self.samples);
        let count = Flaw::Count { of: Counted::Messages, from: None, expected, got: messages };
        self.found((messages != expected).then_some(count));
        Ok(())
    }

    fn end<M: Rig>(mut self, rig: &mut M, ran: Result<()>) -> Result<Outcome, Failed> {
        if let Err(error) = ran {
            rig.note_words(0);
            // An earlier error says more than a rank that then waited in vain.
            return Err(self.wrong.map_or(Failed::Comm(error), Failed::Wrong));
        }
        let got = rig.arrived().unclaimed;
        let left = Flaw::Count { of: Counted::Unclaimed, from: None, expected: 0, got };
        self.found((got > 0).then_some(left));
        let stamps = rig.marks().iter().map(|stamp| stamp.ticks()).collect();
        let (checked, wrong) = (self.sums, self.wrong);
        Ok(Outcome { stamps, checked, wrong, ..Outcome::default() })
    }
}
