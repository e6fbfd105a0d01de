//! From a program's stamps to its samples.

use bandgap_comm::Stamp;

use crate::{Job, Pattern};

/// The samples of one call of a program, in ticks of the clock that stamped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Time of the issue phase of each sample; of a contended stream, the time in which every
    /// requester was served `messages` requests.
    pub issue: Vec<u64>,
    /// Time from the first request to the last reply of each sample; empty for a contended stream.
    pub drained: Vec<u64>,
}

/// Samples of the timed rank's marks.
///
/// *Formula*: with marks b, i, d of a sample (begin, issued, drained): issue = i − b,
/// drained = d − b. Of a contended stream: the differences of consecutive marks.
pub fn reduce(job: &Job, marks: &[Stamp]) -> Samples {
    let ticks = |from: Stamp, to: Stamp| to.ticks().saturating_sub(from.ticks());
    if let Pattern::FanIn { .. } = job.pattern {
        let issue = marks.windows(2).map(|pair| ticks(pair[0], pair[1])).collect();
        return Samples { issue, drained: Vec::new() };
    }
    let (issue, drained) = marks
        .chunks_exact(3)
        .map(|sample| (ticks(sample[0], sample[1]), ticks(sample[0], sample[2])))
        .unzip();
    Samples { issue, drained }
}

/// How many marks the timed rank takes in `job`.
pub(crate) fn marks(job: &Job) -> usize {
    match job.pattern {
        Pattern::FanIn { .. } => job.samples as usize + 1,
        _ => 3 * job.samples as usize,
    }
}
