//! A result of a kind that this version does not know.

use bandgap_report::Layout;
use serde_json::value::RawValue;

use crate::kind::{Among, Shown, Verdict, nothing};

/// Kept as it was read, byte for byte.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// Its kind.
    pub kind: String,
    /// The whole of it as JSON.
    pub raw: Box<RawValue>,
}

impl PartialEq for Unknown {
    fn eq(&self, other: &Unknown) -> bool {
        self.raw.get() == other.raw.get()
    }
}

impl Shown for Unknown {
    nothing! { quantities, figures, files, findings }

    fn text(&self, _: &Among<'_>, layout: &Layout) -> String {
        let kind = &self.kind;
        layout.paragraph(&format!("A result of kind {kind}, which this version does not know."))
    }

    fn verdict(&self) -> Verdict {
        Verdict::Good
    }
}
