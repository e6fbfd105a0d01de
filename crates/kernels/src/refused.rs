//! An order that is refused.

/// An order that cannot be carried out: which kernel, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("carry out the kernel {kernel:?}: {why}")]
pub struct Refused {
    /// The kernel that was ordered.
    pub kernel: String,
    /// Why it cannot be carried out.
    pub why: String,
}

impl Refused {
    /// Refused for this reason.
    pub fn because(why: impl Into<String>) -> Self {
        Self { kernel: String::new(), why: why.into() }
    }

    /// Refused for this reason, unless it is possible.
    pub(crate) fn unless(possible: bool, why: impl FnOnce() -> String) -> Result<(), Self> {
        if possible { Ok(()) } else { Err(Self::because(why())) }
    }

    /// The same, of the kernel of this name.
    pub fn of(self, kernel: &str) -> Self {
        Self { kernel: kernel.into(), ..self }
    }
}
