//! `bandgap pairs`.

use std::time::Duration;

use bandgap_assemble as assemble;
use bandgap_campaign::pairs::{PairsPlan, Tolerance};
use bandgap_campaign::plan::BATCH;
use bandgap_host::parse_cpu_list;
use bandgap_launch::{Classify, Exit, Result, Spread, Target, simulated};
use bandgap_units::Fraction;
use clap::Args;

use super::run::moves_bytes;
use crate::args::{Measure, precision};
use crate::session::{ALONE, Session};

/// Bytes of the message whose time gives the bandwidth.
const LONG: usize = 1 << 20;
/// Default number of ranks of a simulated machine, if it has as many.
const SIMULATED: usize = 8;
/// Time for the command.
const USUAL: Duration = Duration::from_secs(15);

/// How to measure all pairs.
#[derive(Clone, Copy, Debug, Args)]
pub struct Rounds {
    /// All ranks work at once, two and two, in rounds; `--together=false`: one pair at a time [default: together between hosts,
    /// one at a time on one host, where pairs share caches]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub together: Option<bool>,
    /// A pair of hosts is slow if its round trip is longer than the least times this
    #[arg(long, value_name = "TIMES", default_value = "2.1", value_parser = times)]
    pub latency_tolerance: f64,
    /// A pair of hosts is slow if its bandwidth is below this share of the greatest
    #[arg(long, value_name = "SHARE", default_value = "93%", value_parser = precision)]
    pub bandwidth_tolerance: Fraction,
}

/// Parses `--latency-tolerance`.
fn times(text: &str) -> std::result::Result<f64, String> {
    let times = text.parse().ok().filter(|times| (1.0..=1e6).contains(times));
    times.ok_or_else(|| "must be from 1 to 1000000".to_owned())
}

/// Measures, prints and keeps the round trips between all pairs of ranks.
///
/// # Errors
/// The measurement or the output failed.
pub fn run(rounds: Rounds, measure: &Measure) -> Result<Exit> {
    Session::each("pairs", measure, USUAL, [("pairs", 1.0)], |session| {
        self::measure(session, rounds, measure)
    })
}

/// Measures and keeps the round trips over the session's target.
fn measure(session: &mut Session<'_>, rounds: Rounds, measure: &Measure) -> Result<()> {
    let all = match session.target.clone() {
        Target::Simulated(name) => simulated(&name)?.ranks.min(SIMULATED),
        Target::Real(transport) if measure.ranks.ranks.is_empty() => {
            let processors = match &measure.ranks.at.cores {
                Some(cores) => parse_cpu_list(cores).class(Exit::Usage)?,
                None => session.stage.topology.allowed_ids(),
            };
            processors.len().min(transport.can.ranks)
        }
        Target::Real(_) => 0,
    };
    let ranks = match &measure.ranks.ranks[..] {
        [] => all.max(2),
        _ => measure.one_size(2)?,
    };
    let bytes = moves_bytes(&session.target)?.then_some(LONG);
    let spread = Spread::of(&session.stage, ranks, measure.ranks.at.cores.as_deref())?;
    let hosts = if spread.several() { spread.names() } else { Vec::new() };
    let (latency, bandwidth) = (rounds.latency_tolerance, rounds.bandwidth_tolerance.0);
    let usual = Tolerance { latency, bandwidth };
    let compared = !hosts.is_empty() || matches!(session.target, Target::Simulated(_));
    let (tolerance, asked, samples) = (compared.then_some(usual), session.asked(), BATCH);
    let at_once = rounds.together.unwrap_or(!hosts.is_empty());
    if !hosts.is_empty() {
        // What is slow takes long, and would be repeated in each launch.
        session.launch_often(1);
    }
    let plan = PairsPlan { asked, samples, bytes, at_once, tolerance, hosts };
    session.measure(&plan, ranks, ALONE, |of| assemble::pairs(of, Some(&usual)))
}
