//! An order that is refused.

/// An order that cannot be carried out: which kernel, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("carry out an order of kernel {kernel:?}: {why}")]
pub struct Refused {
    kernel: String,
    why: String,
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

    /// The name of the kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// The reason.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The same, of the kernel of this name.
    #[must_use]
    pub fn of(self, kernel: &str) -> Self {
        Self { kernel: kernel.into(), ..self }
    }
}
