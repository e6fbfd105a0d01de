//! What several kinds record of a measurement, and how it is made of batches.

mod batch;
mod checked;
mod drawn;
mod estimated;
#[cfg(test)]
pub(crate) mod examples;
mod fenced;
mod launches;
mod missing;
mod over_floor;
mod pattern;
mod propagated;
mod ranks;
mod set_aside;
mod size;
mod state;
mod unfloored;
mod which;

pub use batch::{Batch, Summary};
pub use checked::Checked;
pub(crate) use drawn::{datum, distant, for_gnuplot, listed, sentences, with_plots};
pub(crate) use estimated::{
    Estimated, Timed, bandwidth, convergence_of, estimated, estimator, half_width, recorded,
    relative_of_both, turned,
};
pub use fenced::Fenced;
pub use launches::LostLaunch;
pub(crate) use launches::{Launches, by_name, lost_in_words, unfitted};
pub(crate) use missing::missing;
pub use over_floor::FloorRatio;
pub(crate) use over_floor::{BELOW_ONE, Ratios, below_one, called, one};
pub use pattern::Pattern;
pub(crate) use propagated::{Propagated, share_with_interval, with_interval};
pub use ranks::{Pair, TABLE};
pub(crate) use ranks::{VIRTUAL, apart, arrow, launches, named_file, of_ranks, over};
pub use set_aside::SetAside;
pub use size::size_in_words;
pub use state::State;
pub(crate) use state::{in_one_state, slowed};
pub(crate) use unfloored::{conditions, oversubscribed, wake_up};
pub use which::Which;
