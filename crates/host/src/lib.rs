//! The machine under measurement: its clock, its cores, its noise, and a description of it.
//!
//! * [`CycleClock`]: ordered, calibrated stamps of the cycle counter, with their cost and step.
//! * [`WorkRate`]: the calibrated loop of dependent arithmetic, the Δ of the LogP signature.
//! * [`pace()`]: how fast a processor executes right now, given what else runs on its core.
//! * [`Topology`], [`place`], [`pin`]: the cores, their distances, and which rank runs on which
//!   core.
//! * [`noise`]: the time that the operating system takes, and the costs of a clock
//!   reading and of a system call.
//! * [`Description`], [`doctor`]: facts about the machine, and whether it is fit to measure on.
//! * [`available_memory`], [`own_memory`]: how much memory is left. [`Allocator`]: none.
//! * [`process`]: a rank that ends with its launcher. [`standard_output`]: whether there is one.
//!
//! Measurement between ranks and statistics of results are in other crates.
//!
//! Unsafe code is only in `affinity`, `allocator`, `clock::counter`, `rounds`, `description::hypervisor`,
//! `process` and `standard_output`. Each states the invariants that it relies on.

mod affinity;
mod allocator;
mod clock;
mod control_group;
mod cpu_list;
mod description;
pub mod doctor;
mod error;
pub mod machine;
mod memory;
pub mod noise;
mod pace;
mod pin;
mod placement;
pub mod process;
mod rounds;
pub mod standard_output;
mod system_file;
mod topology;
mod work;

pub use allocator::Allocator;
pub use clock::{ClockReport, ClockSource, CycleClock, Fallback};
pub use cpu_list::{format_cpu_list, parse_cpu_list};
pub use description::{Description, VirtualMachine};
pub use error::HostError;
pub(crate) use error::Result;
pub use memory::{available_memory, own_memory};
pub use noise::NoiseReport;
pub use pace::pace;
pub use pin::{allow, allowed_cpus, pin};
pub use placement::{Placement, place};
pub use rounds::compute;
pub use topology::{Cache, CacheKind, CacheSummary, Cpu, Distance, Topology, TopologySummary};
pub use work::WorkRate;
