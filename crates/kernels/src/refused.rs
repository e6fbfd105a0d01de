//! An order that is refused.

/// An order that cannot be carried out: its kernel, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("carry out the kernel {kernel:?}: {why}")]
pub struct Refused {
    /// The kernel that was ordered.
    pub kernel: String,
    /// Why it cannot be carried out.
    pub why: String,
}

impl Refused {
    /// Refused for this reason, by a kernel not yet named.
    pub fn because(why: impl Into<String>) -> Self {
        Self { kernel: String::new(), why: why.into() }
    }

    /// Refused for this reason unless `possible`.
    pub(crate) fn unless(possible: bool, why: impl FnOnce() -> String) -> Result<(), Self> {
        if possible { Ok(()) } else { Err(Self::because(why())) }
    }

    /// Adds the kernel's name.
    pub fn of(self, kernel: &str) -> Self {
        Self { kernel: kernel.into(), ..self }
    }
}
