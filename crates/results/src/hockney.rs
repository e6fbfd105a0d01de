//! A fit of t(n) = t0 + n/r∞ to a series, in one or more segments.

use bandgap_record::{Labels, Number, Quantity, Seconds, Unit};
use bandgap_report::{Block, Cell, Head, Table, scaled, share, signed_share};
use bandgap_units::{Bytes, significant_short};
use serde::{Deserialize, Serialize};

use crate::shown::{Context, Shown};

/// The fit of one curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hockney {
    /// The name of the series; for another tool's table, the tool.
    pub name: String,
    /// The transport as the command line names it; `table` of a fit.
    pub transport: String,
    /// Which curve of the series, if it has several: `ranks`, `variant`, `hops`.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub curve: Labels,
    /// Messages that one operation moves; r∞ counts all of them.
    pub messages: u64,
    /// `relative` (errors are shares of the time) or `ordinary`.
    pub weighting: String,
    /// The lines.
    pub segments: Vec<Segment>,
    /// Where they meet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breakpoints: Vec<Breakpoint>,
}

/// One line; parameters that it does not have are absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// The least length.
    pub from_bytes: u64,
    /// The greatest.
    pub to_bytes: u64,
    /// Lengths in it.
    pub points: u64,
    /// r∞: the asymptotic rate of long messages.
    pub r_inf: Option<Quantity>,
    /// n½: the length at half that rate.
    pub n_half: Option<Quantity>,
    /// t0 = n½/r∞: the start-up time.
    pub t0: Option<Quantity>,
    /// π0 = 1/t0: the rate of short messages.
    pub pi0: Option<Quantity>,
    /// R² of the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_squared: Option<Number>,
    /// How far the farthest time is off the line: t/t̂ − 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_residual: Option<Number>,
    /// Its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_bytes: Option<u64>,
    /// The root of the mean square of t/t̂ − 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rms_residual: Option<Number>,
    /// The line's time at n = 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intercept: Option<Seconds>,
    /// The line's time per byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_byte: Option<Seconds>,
}

/// Where two segments meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakpoint {
    /// The length; if it was found, between the last size of one segment and the first of the next.
    pub bytes: Number,
    /// The least possible length; absent if it was given.
    pub low: Option<Number>,
    /// The greatest.
    pub high: Option<Number>,
}

impl Segment {
    /// The time of its line at a length, in seconds.
    pub(crate) fn time(&self, bytes: f64) -> Option<f64> {
        Some(self.intercept?.0.0 + self.per_byte?.0.0 * bytes)
    }
}

impl Hockney {
    /// Its id: `hockney/comms1/shm`, with the curve where there are several.
    pub fn id(&self) -> String {
        let id = format!("hockney/{}/{}", self.name, self.transport);
        let mut id = self.curve.iter().fold(id, |id, (name, place)| format!("{id}/{name}={place}"));
        if self.weighting != RELATIVE {
            id += &format!("/weighting={}", self.weighting);
        }
        id
    }

    /// The parameters of a segment, with their names and ids.
    fn parameters(&self, at: usize) -> [(&'static str, String, Option<&Quantity>); 4] {
        let Segment { r_inf, n_half, t0, pi0, .. } = &self.segments[at];
        // The last size below the break: the id does not depend on the sizes above it.
        let lower = at.checked_sub(1).map_or(0, |before| self.segments[before].to_bytes);
        let id = |name: &str| format!("{}/from={lower}/{name}", self.id());
        let all = [("r_inf", r_inf), ("n_half", n_half), ("t0", t0), ("pi0", pi0)];
        all.map(|(name, of)| (name, id(name), of.as_ref()))
    }

    /// A parameter of the last segment, with its id.
    pub(crate) fn last(&self, name: &str) -> Option<(String, &Quantity)> {
        let all = self.parameters(self.segments.len().checked_sub(1)?);
        let (_, id, of) = all.into_iter().find(|(own, ..)| *own == name)?;
        Some((id, of?))
    }

    /// Whether errors are weighted as shares of the time: the fit that counts.
    pub fn is_relative(&self) -> bool {
        self.weighting == RELATIVE
    }
}

const RELATIVE: &str = "relative";

impl Shown for Hockney {
    fn all(&self) -> Vec<(String, Option<&Quantity>, bool)> {
        let all = (0..self.segments.len()).flat_map(|at| self.parameters(at));
        all.map(|(_, id, of)| (id, of, self.is_relative())).collect()
    }

    fn is_derived(&self) -> bool {
        true
    }

    fn words(&self) -> Vec<[String; 3]> {
        let of = format!("series/{}/{}", self.name, self.transport);
        vec![[format!("{}/segments", self.id()), self.segments.len().to_string(), of]]
    }

    fn detail(&self, context: &Context<'_>) -> Vec<Block> {
        let title = format!(
            "{} over {}, t(n) = t0 + n/r∞, {} errors",
            self.name, self.transport, self.weighting
        );
        let rows = (0..self.segments.len()).map(|at| self.row(context, at));
        let table = Table::new(HEADS.map(head_of)).with(rows);
        let mut blocks =
            vec![Block::section(self.id(), self.named_curve(title)), Block::Table(table)];
        blocks.extend(counted(&[self]));
        blocks.extend(self.meeting().map(Block::Text));
        blocks
    }
}

/// The heads of a table of segments.
const HEADS: [&str; 11] = {
    let [rate, half, start, starts] = PARAMETERS;
    ["from", "to", rate, half, start, starts, "worst residual", "at", "rms", "R²", "sizes"]
};

/// The symbols of the parameters.
pub(crate) const PARAMETERS: [&str; 4] = ["r∞", "n½", "t0", "π0"];

/// The columns of a screen.
const SHORT: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

fn head_of(text: &str) -> Head {
    // Rates of segments share a unit; start-up times and lengths may differ by orders of magnitude.
    match text {
        "r∞" => Head::shared(text),
        "π0" | "worst residual" | "at" => Head::new(text).optional(),
        _ => Head::new(text),
    }
}

impl Hockney {
    /// The time of a message of `bytes` by the line of its segment, in seconds.
    pub fn time(&self, bytes: u64) -> Option<f64> {
        let has = |of: &&Segment| (of.from_bytes..=of.to_bytes).contains(&bytes);
        self.segments.iter().find(has)?.time(bytes as f64)
    }

    fn row(&self, context: &Context<'_>, at: usize) -> Vec<Cell> {
        let segment = &self.segments[at];
        let number = |of: Option<String>| of.map(Cell::Number).into();
        let bytes = |of: u64| Cell::Number(Bytes(of).to_string());
        let mut row = Vec::from([segment.from_bytes, segment.to_bytes].map(bytes));
        let parameters = self.parameters(at);
        row.extend(parameters.map(|(_, id, of)| of.map(|of| context.cell(&id, of)).into()));
        row.extend([
            number(segment.worst_residual.map(|Number(of)| signed_share(of))),
            segment.worst_bytes.map(bytes).into(),
            number(segment.rms_residual.map(|Number(of)| share(of))),
            number(segment.r_squared.map(|Number(of)| significant_short(of, 4))),
            Cell::Number(segment.points.to_string()),
        ]);
        row
    }

    fn named_curve(&self, text: String) -> String {
        self.curve.iter().fold(text, |text, (name, place)| format!("{text}, {name} {place}"))
    }

    /// Where its segments meet.
    fn meeting(&self) -> Option<String> {
        let size = |Number(of): Number| scaled(of, Unit::Byte);
        let one = |of: &Breakpoint| match (of.low, of.high) {
            (Some(low), Some(high)) => {
                format!("{} ({} to {})", size(of.bytes), size(low), size(high))
            }
            _ => format!("{} (given)", size(of.bytes)),
        };
        let all: Vec<String> = self.breakpoints.iter().map(one).collect();
        (!all.is_empty()).then(|| format!("Segments meet at {}.", all.join(", ")))
    }

    /// Whether this is a fit of this series over this transport.
    pub(crate) fn is_of(&self, name: &str, transport: &str) -> bool {
        self.name == name && self.transport == transport
    }
}

/// What r∞ and π0 count, where that is not one message as for t0.
fn counted(fits: &[&Hockney]) -> Option<Block> {
    let all: Vec<String> = fits.iter().map(|fit| fit.messages.to_string()).collect();
    let several = fits.iter().any(|fit| fit.messages > 1);
    several.then(|| Block::Text(format!("r∞ and π0 count {} messages in t0.", all.join(", "))))
}

/// The fits of a series in brief: a row for each segment, and their breakpoints.
pub fn segments(context: &Context<'_>, name: &str, transport: &str) -> Vec<Block> {
    let of_series = || context.of::<Hockney>().filter(|fit| fit.is_of(name, transport));
    let relative: Vec<&Hockney> = of_series().filter(|fit| fit.is_relative()).collect();
    let several = relative.iter().any(|fit| !fit.curve.is_empty());
    let short = |cells: Vec<Cell>| SHORT.map(|at| cells[at].clone());
    let heads = SHORT.map(|at| head_of(HEADS[at]));
    let mut table = Table::new(several.then(|| Head::new("")).into_iter().chain(heads));
    for fit in &relative {
        for at in 0..fit.segments.len() {
            let named = if at == 0 { fit.named_curve(String::new()) } else { String::new() };
            let named = several.then(|| named.trim_start_matches(", ").to_owned().into());
            table.push(named.into_iter().chain(short(fit.row(context, at))));
        }
    }
    if table.rows.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(counted(&relative));
    if let [fit] = &relative[..] {
        let ordinary = of_series().find(|fit| !fit.is_relative()).and_then(|fit| {
            let last = fit.segments.last()?;
            let of = |of: &Option<Quantity>| of.as_ref().map(|of| scaled(of.value.0, of.unit));
            let (rate, half) = (of(&last.r_inf)?, of(&last.n_half).unwrap_or("none".to_owned()));
            Some(format!("Ordinary least squares: r∞ {rate}, n½ {half}."))
        });
        let said: Vec<String> = fit.meeting().into_iter().chain(ordinary).collect();
        if !said.is_empty() {
            blocks.push(Block::Text(said.join(" ")));
        }
    }
    blocks
}

#[cfg(test)]
pub(crate) mod tests;
