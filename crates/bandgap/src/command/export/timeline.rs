//! Timelines: a replay, seen through a window of ranks and time.

use std::collections::BTreeSet;

use bandgap_assemble::spans;
use bandgap_launch::{Exit, Failure, Result, usage};
use bandgap_report::svg_gantt;
use bandgap_results::timeline;
use bandgap_sim::{Seen, Timeline, Window};
use bandgap_units::Ns;
use clap::Args;

/// Number of ranks shown by default, and at most in a picture.
const MOST: u32 = 64;
/// Most ranks of a simulated machine.
const MOST_RANKS: u32 = 1 << 20;
/// Picoseconds of a nanosecond.
const NANO: f64 = 1e3;

/// What a timeline shows.
#[derive(Clone, Debug, Args)]
pub struct Shown {
    /// Ranks that a timeline shows, as 0-15,128 [default: the first 64]
    #[arg(long, value_name = "RANKS")]
    pub on: Option<String>,
    /// When a timeline begins [default: at 0]
    #[arg(long, value_name = "TIME")]
    pub from: Option<Ns>,
    /// When it ends [default: with the last rank]
    #[arg(long, value_name = "TIME")]
    pub until: Option<Ns>,
}

/// Replays and observes through the window.
///
/// # Errors
/// The replay fails, or the window shows nothing.
pub fn seen(
    of: &Shown,
    replay: impl FnOnce(&Window) -> Result<(Timeline, String)>,
) -> Result<Seen> {
    let picoseconds = |time: Ns| (time.0 * NANO).round() as u64;
    let ranks = match &of.on {
        Some(list) => {
            let hint = "write numbers, as in 0-15,128";
            ranks(list).ok_or_else(|| usage!("show the ranks {list}").hint(hint))?
        }
        None => (0..MOST).collect(),
    };
    let from = of.from.map_or(0, picoseconds);
    let window = Window { ranks, from, until: of.until.map_or(u64::MAX, picoseconds) };
    let (timeline, machine) = replay(&window)?;
    let window = window.within(&timeline);
    let end = Ns(window.until as f64 / NANO);
    let nothing = match (&of.on, of.from) {
        (Some(list), _) if window.ranks.is_empty() => {
            format!("show --on {list}: the replay's number of ranks is {}", timeline.ranks)
        }
        (_, Some(from)) if window.from > window.until => {
            format!("show --from {from}: what is shown ends at {end}")
        }
        _ => return Ok(Seen { timeline, window, machine }),
    };
    Err(Failure::new(Exit::Usage, nothing))
}

/// Ranks as typed: `0-15,128`.
fn ranks(list: &str) -> Option<BTreeSet<u32>> {
    let mut all = BTreeSet::new();
    for part in list.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let [from, to] =
            [from, to].map(|rank| rank.parse::<u32>().ok().filter(|rank| *rank < MOST_RANKS));
        all.extend(from?..=to?);
    }
    Some(all).filter(|all| !all.is_empty())
}

/// The picture.
///
/// # Errors
/// It has too many ranks.
pub fn svg(name: &str, Seen { timeline: seen, window, machine }: &Seen) -> Result<String> {
    if window.ranks.len() > MOST as usize {
        return Err(usage!("draw {} ranks: at most {MOST} have room", window.ranks.len())
            .hint("name some with --on, or use --to perfetto"));
    }
    let ranks: Vec<u64> = window.ranks.iter().map(|rank| u64::from(*rank)).collect();
    let [from, end] = [window.from, seen.end].map(|time| Ns(time as f64 / NANO));
    let caption = format!(
        "On {machine}. Starts at {from}; the last rank ends at {end}. Framed: what determines the end"
    );
    let words = [format!("{name} on {} ranks", seen.ranks), caption];
    let ends = [window.from, window.until].map(|time| Ns(time as f64 / NANO).as_secs());
    Ok(svg_gantt(&timeline(&spans(seen), &ranks, ends, words)))
}
