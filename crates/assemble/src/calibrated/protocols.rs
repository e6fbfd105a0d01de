//! What bytes cost: the lines of a fit, as protocols.

use bandgap_record::{Note, Place, Rows};
use bandgap_results::{Hockney, Outcome, Run, Segment};

use super::{Calibrated, Costs, Parameter, Protocol};
use crate::MESSAGE_COSTS;

/// The series whose fitted lines are used: the first that the run has, messages before stores.
const SERIES: [&str; 3] = ["echo", "comms1", STORES];
const STORES: &str = "bulk_store";

impl Calibrated {
    /// Takes each line fitted to the first such series as a protocol.
    ///
    /// *Formula*: t(n) = t0 + n·G with t0 = os + L + or; for stores, which wait for a reply, less half a round trip. os and
    /// or are those of the line's shortest message if they were measured, else those of small messages.
    pub(super) fn add_protocols(&mut self, run: &Run, one_latency: bool) {
        let fits: Vec<&Hockney> =
            run.results.iter().filter_map(Outcome::of_kind::<Hockney>).collect();
        let of = |name: &&str| {
            let own = fits.iter().filter(|fit| {
                fit.name == **name && fit.transport == self.transport && fit.is_relative()
            });
            own.min_by_key(|fit| fit.curve.get("hops").and_then(Place::number)).copied()
        };
        let Some(fit) = SERIES.iter().find_map(of) else { return };
        let Some(rows) = self.rows(run, &fit.name) else { return };
        self.sources.push(fit.name.clone());
        let costs = self.rows(run, MESSAGE_COSTS).filter(|_| !one_latency);
        self.sources.extend(costs.map(|_| MESSAGE_COSTS.to_owned()));
        let reply = self.words.send.value + self.words.recv.value + self.words.latency.value;
        let reply = if fit.name == STORES { reply } else { 0.0 };
        for (at, segment) in fit.segments.iter().enumerate() {
            let is_last = at + 1 == fit.segments.len();
            let up_to = if is_last { u64::MAX } else { segment.to_bytes };
            let times = times(rows, fit, segment, reply);
            let own = |cost| costs.and_then(|rows| overhead(rows, cost, segment));
            let send = own("send").unwrap_or(self.words.send);
            let recv = own("receive").unwrap_or(self.words.recv);
            match line(segment, &times, reply) {
                Some((start, per_byte)) if start.value >= send.value + recv.value => {
                    let latency = start.map(|start| start - send.value - recv.value);
                    let costs = Costs { send, recv, latency };
                    self.protocols.push(Protocol { up_to, costs, per_byte });
                }
                _ => self.in_proportion(&times, up_to),
            }
        }
        for (segment, border) in fit.segments.iter().zip(&fit.breakpoints) {
            if let (Some(low), Some(high)) = (border.low, border.high) {
                self.either_way(segment.to_bytes, [low, high].map(|end| end.0 as u64));
            }
        }
    }

    /// Between the ends of a border's interval a message may follow the line below or that above. The value is that of the
    /// line above, and the ends are those of the one and of the other, the cheaper in the middle first.
    fn either_way(&mut self, border: u64, [low, high]: [u64; 2]) {
        let Some(at) = self.protocols.iter().position(|of| of.up_to == border) else { return };
        let Some([below, above]) = self.protocols.get(at..at + 2) else { return };
        let time = |Protocol { costs: Costs { send, recv, latency }, per_byte, .. }: &Protocol| {
            send.value + recv.value + latency.value + per_byte.value * (low + high) as f64 / 2.0
        };
        let is_dearer = time(above) > time(below);
        let (cheap, dear) = if is_dearer { (below, above) } else { (above, below) };
        let of = |part: fn(&Protocol) -> Parameter| {
            let [value, low, high] = [part(above).value, part(cheap).low, part(dear).high];
            Parameter { value, low, high }
        };
        let [send, recv] = [of(|line| line.costs.send), of(|line| line.costs.recv)];
        let costs = Costs { send, recv, latency: of(|line| line.costs.latency) };
        let (up_to, per_byte) = (high.min(above.up_to).saturating_sub(1), of(|line| line.per_byte));
        let least = at.checked_sub(1).map_or(0, |before| self.protocols[before].up_to);
        let low = low.max(least);
        if low < up_to {
            self.protocols[at].up_to = low;
            self.protocols.insert(at + 1, Protocol { up_to, costs, per_byte });
            let note = Note::new("either_line", "").with("from", low as f64);
            self.notes.push(note.with("to", high as f64));
        }
    }

    /// For a line that starts below os + or: each size costs its measured time in proportion to its length and nothing else;
    /// only empty messages cost as much as small ones.
    fn in_proportion(&mut self, times: &[(u64, Parameter)], up_to: u64) {
        let costs = Costs::default();
        let all: Vec<&(u64, Parameter)> = times.iter().filter(|(bytes, _)| *bytes > 0).collect();
        let Some((first, _)) = all.first() else { return };
        if self.protocols.is_empty() {
            let per_byte = Parameter::default();
            self.protocols.push(Protocol { up_to: 0, costs: self.words, per_byte });
        }
        self.notes.push(Note::new("startup_short", "").with("from", *first as f64));
        for (at, (bytes, time)) in all.iter().enumerate() {
            let per_byte = time.map(|time| time / *bytes as f64);
            let up_to = if at + 1 == all.len() { up_to } else { *bytes };
            self.protocols.push(Protocol { up_to, costs, per_byte });
        }
    }
}

/// The one-way times of a curve's sizes within a segment, by ascending size.
fn times(rows: &Rows, fit: &Hockney, segment: &Segment, reply: f64) -> Vec<(u64, Parameter)> {
    let own = rows.rows.iter().filter(|row| {
        fit.curve.iter().all(|(axis, at)| rows.place(row, axis).is_none_or(|of| of == at))
    });
    let time = |row| {
        let bytes = rows.place(row, "bytes")?.number()?;
        let time = Parameter::of(rows.cell(row, "time")?).map(|ns| ns - reply);
        Some((bytes, time)).filter(|_| (segment.from_bytes..=segment.to_bytes).contains(&bytes))
    };
    let mut all: Vec<(u64, Parameter)> = own.filter_map(time).collect();
    all.sort_by_key(|(bytes, _)| *bytes);
    all
}

/// A segment's start-up time and its time per byte. Without a t0, the start-up time gets the interval of the shortest
/// message's time.
fn line(
    segment: &Segment,
    times: &[(u64, Parameter)],
    reply: f64,
) -> Option<(Parameter, Parameter)> {
    let (start, slope) = (segment.intercept?.0.0 * 1e9, segment.per_byte?.0.0 * 1e9);
    let ends = match &segment.t0 {
        Some(t0) => Parameter::of(t0),
        None => {
            let shortest = times.first()?.1;
            shortest.map(|ns| ns - shortest.value + start)
        }
    };
    let start = Parameter { value: start, ..ends }.map(|ns| ns - reply);
    let rate = segment.r_inf.as_ref().and_then(|rate| rate.interval());
    let rate = rate.filter(|(low, _)| *low > 0.0);
    let (low, high) = rate.map_or((slope, slope), |(low, high)| (1e9 / high, 1e9 / low));
    (slope >= 0.0).then_some((start, Parameter { value: slope, low, high }))
}

/// The overhead of the shortest message in a segment for which it was measured.
fn overhead(rows: &Rows, cost: &str, segment: &Segment) -> Option<Parameter> {
    let own = rows.rows.iter().filter_map(|row| {
        let bytes = rows.place(row, "bytes")?.number()?;
        let is_its = rows.place(row, "variant") == Some(&cost.into())
            && (segment.from_bytes..=segment.to_bytes).contains(&bytes);
        is_its.then_some((bytes, rows.cell(row, "time")?))
    });
    own.min_by_key(|(bytes, _)| *bytes).map(|(_, time)| Parameter::of(time))
}
