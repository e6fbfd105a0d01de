//! A message at full rate, by what bounds the rate.

use bandgap_model::Regime;

use super::Found;
use super::made::{BETWEEN, Made, Place, RECEIVER, SENDER, told};

/// What the model is called.
const MODEL: &str = "message";
/// What readers call it.
const TITLE: &str = "a message at full rate";

impl Made {
    /// Adds the model of a message at full rate, or says why not.
    pub(super) fn message(&mut self, of: &Found<'_>) {
        match of.regime {
            Regime::NetworkBound => self.by_network(of),
            Regime::ProcessorBound => self.by_overheads(of),
            Regime::Overlapped => self.as_measured(
                of,
                SENDER,
                "At full rate the overheads of neighbouring messages overlap: g is less than os + or, so what \
                 shorter overheads would bring to it is not known.",
            ),
            Regime::Undecided => {
                let idle = of.parameters.idle.as_ref().map(told);
                let idle = idle.map(|idle| format!(" (idle is {idle})")).unwrap_or_default();
                self.notes.push(format!(
                    "Not modelled: {TITLE}, since it is undecided what bounds the rate{idle}."
                ));
            }
        }
    }

    /// g, as long as os + or is less.
    fn by_network(&mut self, of: &Found<'_>) {
        if of.moved().is_some() {
            let why = "g holds the time of the bytes, so what shorter ones would bring at full rate is not known.";
            return self.as_measured(of, BETWEEN, why);
        }
        let Some(gap) = self.needed("g", of.parameters.gap.as_ref(), TITLE) else { return };
        self.component("g", "gap (g)", BETWEEN, gap.into());
        let formula = if self.has("os") && self.has("or") {
            self.notes.push(
                "The rate is network-bound: a message takes g, and os + or only once that is longer."
                    .to_owned(),
            );
            "max(g, os + or@initiator)"
        } else {
            "g"
        };
        self.model(MODEL, TITLE, formula, true, None);
    }

    /// g as it is, where other components change it and nobody knows how. It is no main model where another is,
    /// so that nothing is said of it after changes.
    fn as_measured(&mut self, of: &Found<'_>, place: Place, why: &str) {
        let Some(gap) = self.needed("g", of.parameters.gap.as_ref(), TITLE) else { return };
        let alone = self.models.is_empty();
        self.component("g", "gap (g)", place, gap.into());
        self.model(MODEL, TITLE, "g", alone, None);
        self.notes.push(why.to_owned());
    }

    /// os + or, both on the requester, beside the measured g.
    fn by_overheads(&mut self, of: &Found<'_>) {
        let parameters = of.parameters;
        let os = self.needed("os", parameters.send_overhead.as_ref(), TITLE);
        let or = self.needed("or", parameters.recv_overhead.as_ref(), TITLE);
        let (Some(os), Some(or)) = (os, or) else { return };
        self.component("os", "send overhead (os)", SENDER, os.into());
        self.component("or", "receive overhead (or)", RECEIVER, or.into());
        let gap = self.known(parameters.gap.as_ref());
        self.model(MODEL, TITLE, "os + or@initiator", true, gap);
        self.curves(TITLE, MODEL, &["os", "or"]);
        self.notes.push(
            "The rate is processor-bound: the requester sends and receives for each message. The transport's own \
             gap was not seen below that, so what shorter overheads save may end sooner."
                .to_owned(),
        );
    }
}
