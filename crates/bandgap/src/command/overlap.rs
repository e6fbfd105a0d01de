//! `bandgap comet overlap`: what of an exchange hides behind a computation.

use bandgap_campaign::overlap::OverlapPlan;
use bandgap_comm::Delay;
use bandgap_kernels::{Kernel, Order, Overlap, OverlapMode, Pair, fact};
use bandgap_launch::Failure;
use bandgap_results::assemble;

use super::measure::{BATCH, Session};
use super::passing::{Comms, Ways};
use super::points::refusal;
use crate::args::Measure;

/// Lengths of messages, as far as they were asked for.
const SIZES: [u32; 4] = [0, 1 << 10, 16 << 10, 256 << 10];
/// Lengths of vectors, unless others are named.
const ELEMENTS: [u32; 4] = [0, 1 << 10, 8 << 10, 64 << 10];

/// The name on the command line.
pub const NAME: &str = Overlap::NAME;

/// What is to be measured, checked before anything runs.
pub struct Overlapping {
    pair: [usize; 2],
    ranks: usize,
    sizes: Vec<u32>,
    elements: Vec<u32>,
}

impl Overlapping {
    /// As the options say.
    ///
    /// # Errors
    /// They say what cannot be measured.
    pub fn planned(comms: &Comms, ways: &Ways, measure: &Measure) -> Result<Self, Failure> {
        let pair = comms.between.unwrap_or([0, 1]);
        let least = pair[0].max(pair[1]) + 1;
        let ranks = measure.ranks.iter().copied().max().unwrap_or(least);
        let (from, to) = comms.bounds()?;
        let ends = comms.sizes.map_or(Vec::new(), |_| vec![from, to]);
        let mut sizes: Vec<u32> =
            SIZES.into_iter().filter(|size| (from..=to).contains(size)).chain(ends).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut elements =
            if ways.vectors.is_empty() { ELEMENTS.to_vec() } else { ways.vectors.clone() };
        let longest = |lengths: &[u32]| lengths.iter().copied().max().unwrap_or(0);
        let kernel = Overlap {
            pair: Pair { requester: pair[0], replier: pair[1] },
            messages: 1,
            bytes: longest(&sizes) as usize,
            work: Delay { iterations: longest(&elements), picoseconds: 0 },
            mode: OverlapMode::Blocking,
        };
        let order = Order::of(&kernel, 1, ranks);
        let check = fact(&order.kernel).and_then(|fact| (fact.check)(&order, ranks));
        check.map_err(|refused| refusal(&refused))?;
        elements.sort_unstable();
        elements.dedup();
        Ok(Self { pair, ranks, sizes, elements })
    }

    fn plan(&self, session: &Session<'_>) -> OverlapPlan {
        OverlapPlan {
            asked: session.asked(),
            pair: self.pair,
            sizes: self.sizes.clone(),
            elements: self.elements.clone(),
            samples: BATCH,
        }
    }

    /// Checks that there is room for it.
    ///
    /// # Errors
    /// There is not.
    pub fn check(&self, session: &Session<'_>) -> Result<(), Failure> {
        session.check(&self.plan(session), self.ranks)
    }

    /// Measures it.
    ///
    /// # Errors
    /// Ranks could not be started, or results not be written.
    pub fn measure(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let plan = self.plan(session);
        session
            .measure(&plan, self.ranks, |setting, table| assemble::overlap(setting, &plan, table))
    }
}
