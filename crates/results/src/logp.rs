//! A LogP signature: the parameters of small messages, or of transfers of one length.

mod figure;

use bandgap_model::Regime;
use bandgap_record::{Number, Place, Quantity, Rows, Seconds, Unit};
use bandgap_report::{Block, Cell, Head, Table, scaled};
use bandgap_units::{Bytes, significant_short};
use serde::{Deserialize, Serialize};

use crate::shown::{Context, Shown};
use figure::{figure, summary};

/// The signature of one kind of messages over one transport. Its curve, the cost of a message over M and Δ, is a separate
/// result: rows of the same name and transport.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Logp {
    /// `signature`, `bulk_store_signature` or `bulk_get_signature`.
    pub name: String,
    /// The transport as the command line names it; `table` of a fit.
    pub transport: String,
    /// Bytes of the transfers; absent for small messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Who asks whom: `one_to_one`, `pairs` or `fan_out`.
    pub pattern: String,
    /// Number of ranks.
    pub ranks: u64,
    /// The parameters.
    pub parameters: Parameters,
    /// What limits the rate.
    pub regime: Regime,
    /// Where the send-only regime ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
    /// The arms of slope 1, by ascending Δ; the last one is that of the parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arms: Vec<Arm>,
    /// The lines whose slopes are parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// Half a round trip over its floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_floor: Option<OverFloor>,
}

/// The parameters; absent if the data do not determine them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// os: how long the processor is busy sending a message.
    pub send_overhead: Option<Quantity>,
    /// or: how long it is busy receiving one.
    pub recv_overhead: Option<Quantity>,
    /// g: the least time between messages at a steady rate.
    pub gap: Option<Quantity>,
    /// L = RTT/2 − os − or.
    pub latency: Option<Quantity>,
    /// Of gets, os + L of their bytes, which the peer sends or nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_latency: Option<Quantity>,
    /// os + or, which the data often decide better than either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overheads: Option<Quantity>,
    /// The round trip of a single request.
    pub rtt: Option<Quantity>,
    /// How long the processor is idle at full rate: g − os − or.
    pub idle: Option<Quantity>,
    /// The most messages in flight.
    pub capacity: Option<Quantity>,
}

/// Where the send-only regime ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transition {
    /// The number of messages after which it ends.
    pub messages: Number,
    /// `round_trip` or `capacity`.
    pub cause: String,
}

/// A range of Δ in which the cost of a message is os + or + Δ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// From this Δ on.
    pub from_delay: Seconds,
    /// To this one.
    pub to_delay: Seconds,
    /// or, from this arm.
    pub recv_overhead: Quantity,
    /// The slope over Δ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<Quantity>,
    /// Whether the slope is 1; absent if undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
}

/// Elapsed time over M at one Δ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The parameter whose slope it is: `send_overhead`, `gap`.
    pub name: String,
    /// At this Δ.
    pub delay: Seconds,
    /// Time at M = 0.
    pub intercept: Seconds,
    /// Time of a further message.
    pub slope: Seconds,
    /// The smallest number of messages.
    pub from: u64,
    /// The greatest number.
    pub to: u64,
}

/// A time over the floor of its transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverFloor {
    /// The floor.
    pub floor: String,
    /// The ratio, by round.
    pub ratio: Quantity,
}

impl Logp {
    /// A signature without parameters.
    pub fn new(name: &str, transport: &str, bytes: Option<u64>) -> Logp {
        Logp {
            name: name.to_owned(),
            transport: transport.to_owned(),
            bytes,
            pattern: ONE_TO_ONE.to_owned(),
            ranks: 2,
            ..Logp::default()
        }
    }

    /// Its id: `logp/shm`; for transfers and other patterns, with their places.
    pub fn id(&self) -> String {
        let name =
            if self.name == SIGNATURE { String::new() } else { format!("/name={}", self.name) };
        let id = format!("logp/{}{name}", self.transport);
        self.place().iter().fold(id, |id, (axis, place)| format!("{id}/{axis}={place}"))
    }

    /// What distinguishes it from others of its name and transport: the first axes of its curve, with its places.
    pub fn place(&self) -> Vec<(&'static str, Place)> {
        let mut place: Vec<(&str, Place)> = Vec::new();
        if self.pattern != ONE_TO_ONE {
            place.extend([("pattern", self.pattern.as_str().into()), ("ranks", self.ranks.into())]);
        }
        place.extend(self.bytes.map(|bytes| ("bytes", bytes.into())));
        place
    }

    /// Its curve: rows with the cost of a message over M and Δ.
    pub(crate) fn curve<'a>(&self, context: &Context<'a>) -> Option<&'a Rows> {
        let own = self.place();
        let is_own = |rows: &&Rows| {
            let at = |row| own.iter().all(|(axis, place)| rows.place(row, axis) == Some(place));
            (&rows.name, &rows.transport) == (&self.name, &self.transport)
                && rows.axes.len() == own.len() + 2
                && rows.rows.first().is_some_and(at)
        };
        context.of::<Rows>().find(is_own)
    }
}

/// The name of the signature of small messages.
pub const SIGNATURE: &str = "signature";
/// The pattern of two ranks.
pub const ONE_TO_ONE: &str = "one_to_one";

impl Parameters {
    /// All, as far as they are known, each with its name, its symbol and whether it counts.
    pub fn named(&self) -> [(&'static str, &'static str, Option<&Quantity>, bool); 9] {
        let all = [
            ("send_overhead", "os", &self.send_overhead, true),
            ("recv_overhead", "or", &self.recv_overhead, true),
            ("gap", "g", &self.gap, true),
            ("latency", "L", &self.latency, false),
            ("sent_latency", "os + L", &self.sent_latency, false),
            ("overheads", "os + or", &self.overheads, false),
            ("rtt", "RTT", &self.rtt, true),
            ("idle", "idle", &self.idle, false),
            ("capacity", "C", &self.capacity, false),
        ];
        all.map(|(name, symbol, of, counts)| (name, symbol, of.as_ref(), counts))
    }
}

impl Shown for Logp {
    fn all(&self) -> Vec<(String, Option<&Quantity>, bool)> {
        let all = self.parameters.named().map(|(name, _, of, counts)| (name, of, counts));
        let over = ("over_floor", self.over_floor.as_ref().map(|over| &over.ratio), false);
        let with_id = |(name, of, counts)| (format!("{}/{name}", self.id()), of, counts);
        all.into_iter().chain([over]).map(with_id).collect()
    }

    fn floors(&self) -> Vec<(String, &Quantity, &Quantity)> {
        let over = self.over_floor.iter().zip(&self.parameters.rtt);
        let id = |floor| format!("floor/{floor}/{}", self.id());
        over.map(|(over, rtt)| (id(&over.floor), rtt, &over.ratio)).collect()
    }

    fn words(&self) -> Vec<[String; 3]> {
        vec![[format!("{}/limited_by", self.id()), limit(self.regime).to_owned(), self.id()]]
    }

    fn detail(&self, context: &Context<'_>) -> Vec<Block> {
        let mut blocks = vec![
            Block::section(self.id(), self.title()),
            Block::Table(self.parameter_table(context)),
        ];
        blocks.push(Block::Text(self.limited()));
        if !self.arms.is_empty() {
            blocks.push(Block::Table(self.arm_table(context)));
        }
        blocks.extend(figure(context, self).map(Block::Figure));
        blocks.extend(summary(context, self).map(Block::Bars));
        blocks
    }
}

/// What limits the rate, in a word.
pub(crate) fn limit(regime: Regime) -> &'static str {
    match regime {
        Regime::NetworkBound => "network",
        Regime::ProcessorBound => "overheads",
        Regime::Overlapped => "overlap",
        Regime::Undecided => "undecided",
    }
}

impl Logp {
    /// `LogP signature over shm`, with bytes and pattern if they matter.
    pub(crate) fn title(&self) -> String {
        let what = self.name.replace('_', " ").replace("signature", "LogP signature");
        let bytes = self.bytes.map_or(String::new(), |bytes| format!(" of {}", Bytes(bytes)));
        let pattern = match self.pattern.as_str() {
            ONE_TO_ONE => String::new(),
            pattern => format!(", {}, {} ranks", pattern.replace('_', " "), self.ranks),
        };
        format!("{what}{bytes} over {}{pattern}", self.transport)
    }

    fn parameter_table(&self, context: &Context<'_>) -> Table {
        let id = self.id();
        let mut table = Table::new(["", "", "value", "from", "to", "values", "by"].map(Head::new));
        (table.columns[1].optional, table.columns[6].optional) = (true, true);
        let over = self.over_floor.as_ref().map(|over| &over.ratio);
        let all = self.parameters.named().map(|(name, symbol, of, _)| (name, symbol, of));
        let all = all.into_iter().chain([("over_floor", "", over)]);
        table.with(all.filter_map(|(name, symbol, of)| {
            let of = of?;
            let end = |end: Option<Number>| end.map(|end| Cell::Number(scaled(end.0, of.unit)));
            Some([
                symbol.into(),
                name.replace('_', " ").into(),
                context.cell(&format!("{id}/{name}"), of),
                end(of.low).into(),
                end(of.high).into(),
                Cell::Number(of.samples.to_string()),
                of.estimator.clone().into(),
            ])
        }))
    }

    /// What limits the rate, and where the send-only regime ends.
    fn limited(&self) -> String {
        let mut text = format!("Rate limited by: {}.", limit(self.regime));
        if let Some(Transition { messages, cause }) = &self.transition {
            let cause = cause.replace('_', " ");
            text += &format!(
                " Sends alone end after {} messages ({cause}).",
                significant_short(messages.0, 3)
            );
        }
        text
    }

    fn arm_table(&self, context: &Context<'_>) -> Table {
        let seconds = |of: Seconds| Cell::Number(scaled(of.0.0, Unit::Second));
        let row = |arm: &Arm| {
            let is_one = arm.holds.map_or("undecided", |holds| if holds { "yes" } else { "no" });
            [
                seconds(arm.from_delay),
                seconds(arm.to_delay),
                context.cell("", &arm.recv_overhead),
                arm.slope.as_ref().map(|slope| context.cell("", slope)).into(),
                is_one.into(),
            ]
        };
        let heads = ["Δ from", "to", "or", "slope", "is 1"].map(Head::new);
        Table::new(heads).with(self.arms.iter().map(row))
    }
}

#[cfg(test)]
pub(crate) mod tests;
