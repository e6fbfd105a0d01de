//! What a leader tells the other ranks to run.

use bandgap_comm::AtBorder;
use bandgap_comm::passing::Way;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Kernel, Refused, Shape};

/// Most samples of an order.
pub const MOST_SAMPLES: u32 = 1 << 20;

/// One batch of a kernel. All ranks of a run get every order, also those that take no part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The kernel's name.
    pub kernel: String,
    /// The kernel's parameters.
    pub parameters: Value,
    /// Samples.
    pub samples: u32,
    /// The first so many ranks take part.
    pub ranks: usize,
    /// Whether every message is compared, which is not timed; otherwise counts and what came last.
    pub checked: bool,
    /// Whether the timed rank and its peer probe the placement before and after.
    pub probed: bool,
    /// Which way long messages go; absent: the usual one. A rank that cannot go that way takes the
    /// usual one too, and its [`crate::Outcome`] says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<Way>,
    /// Whether it is carried out over the connection that has stamps at its border with the system, and what is done
    /// there. Absent: over the ordinary connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_border: Option<AtBorder>,
    /// What lies between two stamps.
    #[serde(default, skip_serializing_if = "Shape::is_usual")]
    pub shape: Shape,
}

impl Order {
    /// A timed batch of `kernel` on the first `ranks` ranks, without probes.
    pub fn of<K: Kernel>(kernel: &K, samples: u32, ranks: usize) -> Self {
        // A kernel without a value in JSON is refused where it is decoded.
        let parameters = serde_json::to_value(kernel).unwrap_or_default();
        let kernel = K::NAME.to_owned();
        let (checked, probed, way, at_border, shape) = Default::default();
        Self { kernel, parameters, samples, ranks, checked, probed, way, at_border, shape }
    }

    /// The same, checked.
    pub fn checked(self) -> Self {
        Self { checked: true, ..self }
    }

    /// The same, between probes.
    pub fn probed(self) -> Self {
        Self { probed: true, ..self }
    }

    /// The kernel, if it is `K` and the first ranks of `size` can run it.
    ///
    /// # Errors
    /// The kernel is another one, its parameters do not decode, or it refuses them; or there are no
    /// such ranks, or too many samples.
    pub fn kernel<K: Kernel>(&self, size: usize) -> Result<K, Refused> {
        let refused = |why: String| Refused::because(why).of(&self.kernel);
        if self.kernel != K::NAME {
            return Err(refused(format!("it is not {:?}", K::NAME)));
        }
        if !(1..=size).contains(&self.ranks) {
            return Err(refused(format!("it is for {} ranks, and there are {size}", self.ranks)));
        }
        if !(1..=MOST_SAMPLES).contains(&self.samples) {
            let why = format!("{} samples: from 1 to {MOST_SAMPLES} are possible", self.samples);
            return Err(refused(why));
        }
        let kernel = K::deserialize(&self.parameters)
            .map_err(|error| refused(format!("parameters {}: {error}", self.parameters)))?;
        if self.shape == Shape::Osu && kernel.operations().is_none() {
            return Err(refused("its operations are not timed one by one, as OSU does".into()));
        }
        kernel.check(self.ranks).map_err(|error| error.of(&self.kernel))?;
        Ok(kernel)
    }
}
