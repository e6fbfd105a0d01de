//! `bandgap comet contention`: echo, while two other ranks load the machine.

use bandgap_campaign::contention::{Beside, CONTENTION, ContentionPlan};
use bandgap_launch::{Failure, Target, Transport, contended};
use bandgap_results::assemble;

use super::measure::Session;
use super::passing::Comms;
use super::points::refusal;
use crate::args::Measure;

/// The name on the command line.
pub const NAME: &str = CONTENTION;

/// Lengths of the echo's messages ascend by this factor.
const STEP: u32 = 4;

/// What is to be measured, checked before anything runs; or why these ranks cannot.
///
/// # Errors
/// The options say what cannot be measured.
pub fn planned(comms: &Comms, measure: &Measure) -> Result<Planned, Failure> {
    let (from, to) = comms.bounds()?;
    let usual = || Target::Real(Transport::usual());
    let target = measure.transport.clone().unwrap_or_else(usual);
    let ranks = measure.ranks.iter().copied().max();
    let (ranks, pairs) = contended(&target, ranks, comms.between)?;
    Ok(Planned { pairs, ranks, sizes: lengths(from, to) })
}

/// 0 and powers of [`STEP`], as far as they lie between, with the least and the greatest.
fn lengths(from: u32, to: u32) -> Vec<u32> {
    let powers = std::iter::successors(Some(1_u32), |power| power.checked_mul(STEP));
    let within = |bytes: &u32| (from..=to).contains(bytes);
    let mut lengths: Vec<u32> =
        std::iter::once(0).chain(powers).filter(within).chain([from, to]).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Echoes and loads that can be measured.
pub struct Planned {
    pairs: Vec<Beside>,
    ranks: usize,
    sizes: Vec<u32>,
}

impl Planned {
    /// It, if so many ranks can do it.
    ///
    /// # Errors
    /// They cannot.
    pub fn checked(self) -> Result<Self, Failure> {
        let check = self.pairs.iter().try_for_each(|beside| beside.check(self.ranks));
        check.map(|()| self).map_err(|refused| refusal(&refused))
    }

    fn plan(&self, session: &Session<'_>) -> ContentionPlan {
        let (pairs, sizes) = (self.pairs.clone(), self.sizes.clone());
        ContentionPlan { asked: session.asked(), pairs, ranks: self.ranks, sizes }
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
            .measure(&plan, self.ranks, |setting, table| assemble::contended(setting, &plan, table))
    }
}
