//! What is recorded of a trace.

use bandgap_model::pcie::hardware::ENOUGH;
use bandgap_model::pcie::{Hardware, Known, Numbers, Range, Read, Timed};
use bandgap_record::{Evidence, Number, Quantity, RecordError, Seconds, Unit};
use bandgap_stats::{Interval, Rule, Stream};
use bandgap_units::{Fraction, Ns};

use super::schema::{DerivedTime, MissingTime, PcieTrace, TraceBin, TraceFile, TraceTime, title};
use crate::AssembleError;

/// Parts of the distribution, at least and at most; between, the square root of the samples.
const BINS: [f64; 2] = [8.0, 40.0];

/// It is shown as far as its 99 % quantile, and at most so many times the distance of its quartiles away
/// from its median: a few long times would leave no room for the others.
const FAR: f64 = 6.0;

/// That distance, as a share of the median, where the times hardly differ.
const LEAST: f64 = 0.02;

/// Mean and median further apart than this are spoken of.
const APART: f64 = 0.05;

/// A trace by its file's name.
pub type Named<'a> = (&'a str, &'a Read);

/// What a trace says, and another one without a switch.
///
/// # Errors
/// A number cannot be recorded.
pub fn pcie_trace(
    trace: Named<'_>,
    direct: Option<Named<'_>>,
    hardware: &Hardware,
    rule: Rule,
    confidence: f64,
) -> Result<PcieTrace, AssembleError> {
    let rounds = &trace.1.rounds;
    let streams = [
        ("injection", Some(&rounds.posts), hardware.injection.is_ok()),
        ("acknowledgement", Some(&trace.1.acks.round_trips), hardware.pcie.is_ok()),
        ("ping", Some(&rounds.pings), hardware.network.is_ok()),
        ("ping_without_switch", direct.map(|(_, read)| &read.rounds.pings), hardware.wire.is_ok()),
        ("pong", Some(&rounds.pongs), hardware.network.is_ok()),
    ];
    let known = streams.into_iter().filter(|(.., is_known)| *is_known);
    let times = known.filter_map(|(name, stream, _)| time(name, stream?, rule, confidence));
    let times = times.collect::<Result<Vec<_>, RecordError>>()?;
    let all = derived(hardware);
    let known = all.iter().filter_map(|(name, formula, known)| {
        known.as_ref().ok().map(|time| {
            let (name, formula) = ((*name).to_owned(), (*formula).to_owned());
            Ok(DerivedTime { name, time: quantity(time, &formula, rule)?, formula })
        })
    });
    let known = known.collect::<Result<Vec<_>, RecordError>>()?;
    let missing = all.iter().filter_map(|(name, _, known)| {
        known.as_ref().err().map(|why| MissingTime { name: (*name).to_owned(), why: why.clone() })
    });
    let histogram = match hardware.injection {
        Ok(_) => bins(&rounds.posts),
        Err(_) => Vec::new(),
    };
    let files: Vec<TraceFile> =
        [Some(trace), direct].into_iter().flatten().enumerate().map(file).collect();
    let mut result = PcieTrace {
        name: trace.0.to_owned(),
        files,
        times,
        derived: known,
        missing: missing.collect(),
        histogram,
        findings: Vec::new(),
    };
    result.findings = findings(&result, trace, direct);
    Ok(result)
}

/// What follows, with its formula.
fn derived(hardware: &Hardware) -> [(&'static str, &'static str, &Known); 6] {
    [
        ("inj_overhead", "post to post", &hardware.injection),
        ("pcie", "completion to its ACK / 2", &hardware.pcie),
        ("network", "ping to its completion / 2", &hardware.network),
        ("wire", "Network without a switch", &hardware.wire),
        ("switch", "Network - Wire", &hardware.switch),
        ("rc_to_mem_8", "pong to next ping - 2 PCIe - LLP_prog - LLP_post", &hardware.rc_to_mem),
    ]
}

fn quantity(time: &Timed, how: &str, rule: Rule) -> Result<Quantity, RecordError> {
    let interval = time.half.map(|half| (Ns(time.ns - half), Ns(time.ns + half)));
    let converged = time.half.is_some_and(|half| rule.judge(half, time.ns).is_enough());
    let how = format!("{how}, of means with t intervals of batch means");
    Quantity::time(Ns(time.ns), interval, Evidence::new(how, time.values, converged))
}

/// Times between packets; `None` without any.
fn time(
    name: &str,
    stream: &Stream,
    rule: Rule,
    confidence: f64,
) -> Option<Result<TraceTime, RecordError>> {
    let mean = Timed::of(stream, confidence)?;
    let at = |ps: f64| Seconds::from(Ns(ps / 1e3));
    let quantile = |p| stream.quantile(p).map(at);
    let interval = |interval: Interval| (interval.low / 1e12, interval.high / 1e12);
    let (middle, ends) = (stream.quantile(0.5)?, stream.quantile_interval(0.5, confidence));
    let median = || {
        let enough = ends.is_some_and(|ends| rule.judge(ends.half_width(), middle).is_enough());
        let how = "median of a histogram, order statistics interval";
        let evidence = Evidence::new(how, stream.count(), enough);
        Quantity::new(middle / 1e12, ends.map(interval), Unit::Second, evidence)
    };
    let all = [
        stream.min().map(at),
        quantile(0.9),
        quantile(0.99),
        quantile(0.999),
        stream.max().map(at),
    ];
    let [Some(min), Some(p90), Some(p99), Some(p999), Some(max)] = all else { return None };
    let made = quantity(&mean, "the mean", rule).and_then(|mean| {
        let (name, median, samples) = (name.to_owned(), median()?, stream.count());
        Ok(TraceTime { name, mean, median, min, p90, p99, p999, max, samples })
    });
    Some(made)
}

fn bins(stream: &Stream) -> Vec<TraceBin> {
    let quantiles = [0.0, 0.25, 0.5, 0.75, 0.99].map(|p| stream.quantile(p));
    let [Some(least), Some(low), Some(middle), Some(high), Some(last)] = quantiles else {
        return Vec::new();
    };
    let far = FAR * (high - low).max(LEAST * middle);
    let ends = (least.max(middle - far), last.min(middle + far));
    let parts = (stream.count() as f64).sqrt().clamp(BINS[0], BINS[1]);
    let at = |ps: f64| Seconds::from(Ns(ps / 1e3));
    let all = stream.count().max(1) as f64;
    let bins = stream.bins(parts as u32, ends.0, ends.1).into_iter().map(|bin| TraceBin {
        from: at(bin.from),
        to: at(bin.to),
        count: bin.count,
        share: Number(bin.count as f64 / all),
    });
    bins.collect()
}

fn file((at, (name, read)): (usize, Named<'_>)) -> TraceFile {
    let counted = read.counted;
    let address = |range: &Range| [range.from, range.to].map(|address| format!("0x{address:x}"));
    TraceFile {
        file: name.to_owned(),
        without_switch: at > 0,
        rows: read.rows,
        span: Ns(read.span as f64 / 1e3).into(),
        posts: counted.posts,
        completions: counted.completions,
        payloads: counted.payloads,
        acknowledgements: counted.acknowledgements,
        others: counted.others,
        lost: read.lost,
        again: read.again,
        completions_at: read.roles.found().iter().map(address).collect(),
    }
}

/// What a reader should know.
fn findings(result: &PcieTrace, trace: Named<'_>, direct: Option<Named<'_>>) -> Vec<String> {
    let mut said = Vec::new();
    let has_direct = direct.is_some();
    let is_known = |name: &str| result.derived.iter().any(|one| one.name == name);
    let undivided = !has_direct && is_known("network");
    for MissingTime { name, why } in &result.missing {
        let divides = matches!(name.as_str(), "wire" | "switch");
        // Without a second trace, and where Network itself is missing, one sentence is enough.
        if !divides || has_direct && is_known("network") {
            let end = if why.ends_with('?') { "" } else { "." };
            said.push(format!("{} is not derived: {why}{end}", title(name)));
        }
    }
    if undivided {
        said.push(
            "Network is not divided into Wire and Switch: there is no trace without a switch."
                .into(),
        );
    }
    let rare = |one: &&TraceTime| one.samples < ENOUGH;
    let rare: Vec<String> = result
        .times
        .iter()
        .filter(rare)
        .map(|one| format!("{} ({})", title(&one.name), one.samples))
        .collect();
    if !rare.is_empty() {
        said.push(format!(
            "Fewer samples than the {ENOUGH} that the paper takes at least: {}.",
            rare.join(", ")
        ));
    }
    said.extend(result.times.iter().filter_map(skewed));
    said.extend(unacknowledged(trace.1));
    let is_timed = |of_direct: bool| {
        result.times.iter().any(|one| (one.name == "ping_without_switch") == of_direct)
    };
    for (of_direct, named) in [(false, Some(trace)), (true, direct)] {
        said.extend(named.filter(|_| is_timed(of_direct)).into_iter().flat_map(uncounted));
    }
    said.extend([Some(trace), direct].into_iter().flatten().filter_map(unaddressed));
    said.extend([Some(trace), direct].into_iter().flatten().filter_map(left_out));
    for at in &result.files {
        if let [[from, to]] = at.completions_at.as_slice() {
            said.push(format!(
                "Of the writes of 64 bytes in {} those from {from} to {to} are taken as completions: they \
                 follow posts.",
                at.file
            ));
        }
    }
    match trace.1.payload_bytes {
        Some(bytes) if bytes != 8 && is_known("rc_to_mem_8") => said.push(format!(
            "The first payload has {bytes} bytes: RC-to-MEM is that of such payloads, and not of 8 bytes."
        )),
        _ => {}
    }
    said
}

/// A few long times that move the mean.
fn skewed(one: &TraceTime) -> Option<String> {
    let (mean, median) = (one.mean.value.0, one.median.value.0);
    let apart = mean / median - 1.0;
    (apart.abs() > APART).then(|| {
        format!(
            "The mean of {} is {} {} the median; the longest is {}.",
            title(&one.name),
            Fraction(apart.abs()),
            if apart > 0.0 { "above" } else { "below" },
            one.max.ns()
        )
    })
}

/// Completions that PCIe is not of.
fn unacknowledged(read: &Read) -> Option<String> {
    let acks = &read.acks;
    let timed = acks.round_trips.count();
    let left = acks.shared + acks.given_up;
    (timed > 0 && left > 0).then(|| {
        format!(
            "{left} completions have no acknowledgement of their own, and are not in PCIe; {timed} are."
        )
    })
}

/// What times leave out, and what they may hold unnoticed.
fn uncounted((file, read): Named<'_>) -> Vec<String> {
    let mut said = Vec::new();
    let across = match (read.lost, read.again) {
        (Some(0) | None, 0) => "numbers that were set back",
        (_, 0) => "missing packets",
        (Some(0) | None, _) => "packets that were sent again",
        _ => "missing packets and packets that were sent again",
    };
    if read.rounds.apart > 0 {
        let pairs = match read.rounds.apart {
            1 => "1 pair of posts".to_owned(),
            apart => format!("{apart} pairs of posts"),
        };
        said.push(format!("Times across {across} in {file} are left out: {pairs}."));
    }
    let why = match read.numbers {
        Numbers::None => "no sequence numbers",
        Numbers::Tag => "tags and no sequence numbers",
        Numbers::Sequence => "sequence numbers that do not count its packets",
    };
    if read.lost.is_none() {
        said.push(format!("{file} has {why}: missing rows are not noticed, and lengthen times."));
    }
    said
}

/// That the last row is not among the others.
fn left_out((file, read): Named<'_>) -> Option<String> {
    let line = read.cut?;
    Some(format!(
        "The last line of {file} ({line}) has no end, so its last field may be cut: it is left out."
    ))
}

/// Whether completions and payloads are told apart at all.
fn unaddressed((file, read): Named<'_>) -> Option<String> {
    let (without, given) = (read.roles.unaddressed(), read.roles.given());
    if without == 0 {
        return None;
    }
    let counted = read.counted;
    let which = match without == counted.completions + counted.payloads {
        true => format!("The writes that go up in {file} have no address"),
        false => format!("{without} of the writes that go up in {file} have no address"),
    };
    let how = match given.completions.is_empty() && given.payloads.is_empty() {
        true => {
            "those of 64 bytes count as completions and others as payloads, by their size alone, and a \
             payload of 64 bytes or a received message's completion cannot be told from a post's completion"
        }
        false => "the addresses that are given do not tell what they are",
    };
    Some(format!("{which}: {how}."))
}
