//! Half a round trip, or the way of a transfer: os + L + or, with n·G between for its bytes.

use bandgap_model::breakdown::Time;
use bandgap_units::{Bytes, Fraction, Ns};

use super::Found;
use super::made::{BETWEEN, Known, Made, RECEIVER, SENDER, told};
use crate::logp::schema::Operation;

/// What the model is called.
const MODEL: &str = "one_way";
/// What was measured of it, whose parts the components are.
const WHOLE: &str = "measured";

impl Made {
    /// Adds os, L and or, and the model of the way; or says why not.
    pub(super) fn way(&mut self, of: &Found<'_>, without_bytes: Option<Found<'_>>) {
        let title = match of.moved() {
            None => "half a round trip".to_owned(),
            Some((Operation::Store, bytes)) => format!("a store's way ({})", Bytes(bytes)),
            Some((Operation::Get, bytes)) => format!("a get's way ({})", Bytes(bytes)),
        };
        let parameters = of.parameters;
        let Some(os) = self.needed("os", parameters.send_overhead.as_ref(), &title) else { return };
        let Some(or) = self.needed("or", parameters.recv_overhead.as_ref(), &title) else { return };
        let whole = match of.moved() {
            None => {
                let rtt = self.needed("RTT", parameters.rtt.as_ref(), &title);
                rtt.map(|Known { ns, spread }| Known {
                    ns: ns / 2.0,
                    spread: spread.map(|s| s / 2.0),
                })
            }
            Some(_) => self.way_of_bytes(of, without_bytes, [os, or], &title),
        };
        let Some(whole) = whole else { return };
        if whole.ns <= 0.0 {
            let why = "what was measured of it is not above 0";
            return self.notes.push(format!("Not modelled: {title}, since {why}."));
        }
        self.component("os", "send overhead (os)", SENDER, os.into());
        self.component("or", "receive overhead (or)", RECEIVER, or.into());
        let between = whole.ns - os.ns - or.ns;
        if between < 0.0 {
            let latency = parameters.latency.as_ref().map_or_else(|| Ns(between).to_string(), told);
            self.lacking.push(("L", format!("in this signature L is {latency}, not above 0")));
            if let Some((_, bytes)) = of.moved() {
                let why = format!("os and or leave nothing of the way for {}", Bytes(bytes));
                self.lacking.push(("bytes", why));
            }
            self.notes.push(format!(
                "L is {latency}, and no component. So {title} is modelled as os + or, which is {} longer than what \
                 was measured.",
                Fraction(-between / whole.ns)
            ));
            self.model(MODEL, &title, "os + or", true, Some(whole));
            return self.curves(&title, MODEL, &["os", "or"]);
        }
        let bytes = of.moved().zip(without_bytes).and_then(|((_, bytes), without)| {
            let latency = self.known(without.parameters.latency.as_ref())?;
            (0.0..=between).contains(&latency.ns).then_some((bytes, latency))
        });
        let (formula, parts) = match bytes {
            None => {
                let of_none = without_bytes.map(|of| of.parameters.latency.as_ref().map(told));
                let why = match (of.moved(), of_none) {
                    (None, _) => "messages have no bytes of their own in this signature".to_owned(),
                    (Some(_), Some(Some(latency))) => format!(
                        "they cannot be told from L, which is {latency} without bytes and {} with them",
                        Ns(between)
                    ),
                    (Some(_), _) => {
                        "they cannot be told from L, which was not found without bytes".to_owned()
                    }
                };
                self.lacking.push(("bytes", why));
                let latency = format!("{WHOLE} - os - or");
                self.component("L", "latency (L)", BETWEEN, Time::Derived(latency));
                ("os + L + or", &["os", "L", "or"][..])
            }
            Some((bytes, latency)) => {
                let label = format!("{} (n·G)", Bytes(bytes));
                let rest = format!("{WHOLE} - os - or - L");
                self.component("L", "latency (L)", BETWEEN, latency.into());
                self.component("bytes", &label, BETWEEN, Time::Derived(rest));
                self.model("G", "time per byte", &format!("bytes / {bytes}"), false, None);
                ("os + L + bytes + or", &["os", "L", "bytes", "or"][..])
            }
        };
        for part in self.components.iter_mut().filter(|one| parts.contains(&one.name.as_str())) {
            part.part_of = Some(WHOLE.to_owned());
        }
        self.component(WHOLE, &format!("{title}, as measured"), BETWEEN, whole.into());
        self.model(MODEL, &title, formula, true, None);
        if of.moved().is_none() {
            self.model("round_trip", "round trip", &format!("2 * {MODEL}"), false, None);
        }
        self.curves(&title, MODEL, parts);
        let (rest, counts) =
            if bytes.is_some() { ("L and n·G are", "They count") } else { ("L is", "It counts") };
        self.notes.push(format!(
            "{rest} what os and or leave of {title} as it was measured, so that the model cannot be compared with \
             that. {counts} as network, whatever the time is spent on."
        ));
    }

    /// RTT(n) − RTT(0)/2, which is os + L(n) + or.
    fn way_of_bytes(
        &mut self,
        of: &Found<'_>,
        without_bytes: Option<Found<'_>>,
        [os, or]: [Known; 2],
        title: &str,
    ) -> Option<Known> {
        let Some(latency) = self.known(of.parameters.latency.as_ref()) else {
            self.notes.push(format!("Not modelled: {title}, since L was not found."));
            return None;
        };
        let short = without_bytes.and_then(|short| self.known(short.parameters.rtt.as_ref()));
        let spreads = [self.known(of.parameters.rtt.as_ref()), short].map(|known| known?.spread);
        let spread = match spreads {
            [Some(long), Some(short)] => Some(long.hypot(short / 2.0)),
            _ => latency.spread,
        };
        Some(Known { ns: os.ns + latency.ns + or.ns, spread })
    }
}
