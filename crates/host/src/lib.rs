//! The machine that is measured on: its clock, its cores, its noise, and what it is.
//!
//! * [`CycleClock`]: ordered stamps of the cycle counter, calibrated, with its own cost and step.
//! * [`WorkRate`]: the calibrated loop of dependent arithmetic, the Δ of the LogP signature.
//! * [`pace()`]: how fast a processor executes at this moment, beside whatever shares its core.
//! * [`Topology`], [`place`], [`pin`]: which cores there are, how near they are to one another,
//!   which rank runs where.
//! * [`noise`], [`floor`]: what the operating system takes, and what a clock read and a system
//!   call cost.
//! * [`Description`], [`doctor`]: what a run ran on, and whether that is fit to measure on.
//! * [`available_memory`]: what may yet be taken.
//! * [`process`]: the little that the launcher needs of the operating system.
//!
//! Not here: measurement between ranks, and statistics of results.
//!
//! Unsafe code is in `clock::counter`, `work`, `process` and `description::hypervisor` only; each
//! of these starts with the invariants it relies on.

mod clock;
mod cpu_list;
mod description;
pub mod doctor;
mod error;
pub mod floor;
mod memory;
pub mod noise;
mod pace;
mod pin;
mod placement;
pub mod process;
mod system_file;
mod topology;
mod work;

pub use clock::{ClockReport, ClockSource, CycleClock, Fallback};
pub use cpu_list::{format_cpu_list, parse_cpu_list};
pub use description::{Description, Limit, Limits, VirtualMachine};
pub use error::HostError;
pub use memory::available_memory;
pub use noise::NoiseReport;
pub use pace::pace;
pub use pin::{allowed_cpus, current_cpu, pin};
pub use placement::{Placement, place};
pub use topology::{Cache, CacheKind, CacheSummary, Cpu, Distance, Topology, TopologySummary};
pub use work::WorkRate;
