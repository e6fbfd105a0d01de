//! Orders: what a leader tells the other ranks to run.

use bandgap_comm::AtBorder;
use bandgap_comm::passing::Way;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Kernel, Refused, Shape};

/// Largest number of samples in an order.
pub const MOST_SAMPLES: u32 = 1 << 20;

/// One batch of a kernel. All ranks of a run get every order, even those that take no part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The kernel's name.
    pub kernel: String,
    /// The kernel's parameters.
    pub parameters: Value,
    /// Number of samples.
    pub samples: u32,
    /// Number of ranks that take part: ranks 0 to `ranks` − 1.
    pub ranks: usize,
    /// Whether every message is compared, which is not timed. If not, counts and the last contents
    /// are compared.
    pub checked: bool,
    /// Whether the timed rank and its peer probe the placement before and after the batch.
    pub probed: bool,
    /// The way of long messages; absent: the usual way. A rank that cannot do it uses the usual
    /// way, and its [`crate::Outcome`] says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<Way>,
    /// What is stamped and inserted, where the time of a message is divided. Absent: nothing, and the
    /// ordinary connection is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_border: Option<AtBorder>,
    /// The transport or the bare mechanism that it is carried out on, of those that ranks have; absent: the transport that
    /// carries orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// What is between two stamps.
    #[serde(default, skip_serializing_if = "Shape::is_usual")]
    pub shape: Shape,
}

impl Order {
    /// A timed batch of `kernel` on ranks 0 to `ranks` − 1, without probes.
    pub fn of<K: Kernel>(kernel: &K, samples: u32, ranks: usize) -> Self {
        // A kernel that JSON cannot hold is refused when the order is decoded.
        let parameters = serde_json::to_value(kernel).unwrap_or_default();
        let kernel = K::NAME.to_owned();
        let (checked, probed, way, at_border, on, shape) = Default::default();
        Self { kernel, parameters, samples, ranks, checked, probed, way, at_border, on, shape }
    }

    /// The same order, as a checked batch.
    pub fn checked(self) -> Self {
        Self { checked: true, ..self }
    }

    /// The same order, between probes.
    pub fn probed(self) -> Self {
        Self { probed: true, ..self }
    }

    /// The kernel, if it is `K` and the first `self.ranks` of `size` ranks can run it.
    ///
    /// # Errors
    /// The order names another kernel, its parameters do not decode, or the kernel refuses them; or
    /// there are too few ranks or too many samples.
    pub fn kernel<K: Kernel>(&self, size: usize) -> Result<K, Refused> {
        let refused = |why: String| Refused::because(why).of(&self.kernel);
        if self.kernel != K::NAME {
            return Err(refused(format!("the order names this kernel, not {:?}", K::NAME)));
        }
        if !(1..=size).contains(&self.ranks) {
            return Err(refused(format!(
                "it is ordered on {} ranks; there are {size}",
                self.ranks
            )));
        }
        if !(1..=MOST_SAMPLES).contains(&self.samples) {
            let why = format!("samples must be from 1 to {MOST_SAMPLES}, not {}", self.samples);
            return Err(refused(why));
        }
        let kernel = K::deserialize(&self.parameters)
            .map_err(|error| refused(format!("parameters {}: {error}", self.parameters)))?;
        if self.shape == Shape::Osu && kernel.operations().is_none() {
            return Err(refused("its operations cannot be timed one by one, as OSU does".into()));
        }
        kernel.check(self.ranks).map_err(|error| error.of(&self.kernel))?;
        Ok(kernel)
    }
}
