//! Fits of t(n) = t0 + n/r∞ as they are recorded: one result for each weighting.

use bandgap_campaign::signature::judge;
use bandgap_model::Estimate;
use bandgap_model::hockney::{
    Breakpoint as Found, Fit, HockneyFinding, HockneyFit, HockneyOptions, Segment as Fitted,
    SizedTimes, fit,
};
use bandgap_record::{Convergence, Number, Quantity, RecordError, Seconds, Unit};
use bandgap_stats::Rule;
use bandgap_units::{Bytes, Ns};

use super::schema::{Breakpoint, Hockney, Residuals, Segment, SegmentLine};
use crate::error::AssembleError;
use crate::measured::{Launches, LostLaunch, Which, recorded};

/// What is fitted, as both results name it.
pub struct Fitting<'a> {
    /// The series, or the tool.
    pub name: &'a str,
    /// Its transport.
    pub transport: &'a str,
    /// Which points of the series, where it has several curves.
    pub which: Which,
    /// Messages that an operation moves: r∞ and π0 count them all.
    pub messages: u64,
    /// How narrow intervals are to be.
    pub rule: Rule,
    /// Sentences that come before those of the fit.
    pub notes: Vec<String>,
    /// Launches without a line in some segment.
    pub lost: Vec<LostLaunch>,
}

impl Fitting<'_> {
    /// Fits `times` in both weightings, the relative one first, and names what is in doubt of them
    /// ([`HockneyFit::doubts`]), by ascending size and each once.
    ///
    /// # Errors
    /// The times cannot be fitted, or a number cannot be recorded.
    pub fn fit(
        &self,
        times: &[SizedTimes],
        options: &HockneyOptions,
    ) -> Result<([Hockney; 2], Vec<String>), AssembleError> {
        let both = fit(times, options)?;
        let mut doubts: Vec<_> = both.doubts().filter_map(HockneyFinding::doubt).collect();
        doubts.sort_by_key(|(range, _)| (range.from, range.to));
        let mut named: Vec<String> = Vec::new();
        for (range, all) in doubts {
            let new = all.iter().map(|what| format!("{range}: {what}"));
            let new: Vec<String> = new.filter(|name| !named.contains(name)).collect();
            named.extend(new);
        }
        Ok((self.recorded(&both)?, named))
    }

    /// The same with what is said of launches.
    pub(crate) fn of_launches(mut self, launches: Launches) -> Self {
        self.notes.extend(launches.findings);
        self.lost = launches.lost;
        self
    }

    /// A fit as it is recorded, the relative one first.
    pub(crate) fn recorded(&self, both: &HockneyFit) -> Result<[Hockney; 2], RecordError> {
        Ok([self.weighted(both, &both.relative)?, self.weighted(both, &both.ordinary)?])
    }

    fn weighted(&self, both: &HockneyFit, of: &Fit) -> Result<Hockney, RecordError> {
        let segments: Result<Vec<Segment>, RecordError> =
            of.segments.iter().map(|segment| self.segment(segment)).collect();
        let found = both.findings.iter().chain(&of.findings).map(ToString::to_string);
        let found = found.chain(marked(of));
        Ok(Hockney {
            name: self.name.to_owned(),
            transport: self.transport.to_owned(),
            which: self.which.clone(),
            messages: self.messages,
            weighting: of.weighting,
            lost_launches: self.lost.clone(),
            segments: segments?,
            breakpoints: both.breakpoints.iter().map(breakpoint).collect(),
            findings: self.notes.iter().cloned().chain(found).collect(),
        })
    }

    fn segment(&self, segment: &Fitted) -> Result<Segment, RecordError> {
        let parameter = |estimate: &Option<Estimate>, unit| -> Result<Option<Quantity>, _> {
            let Some(found) = estimate else { return Ok(None) };
            let rule = match unit {
                Unit::Second => self.rule,
                _ => self.rule.without_clock(),
            };
            // An interval is of how the times scatter about a line that they follow.
            let convergence = match segment.misfit {
                true => Convergence::No,
                false => judge(found, &rule),
            };
            recorded(found, unit, convergence).map(Some)
        };
        // Of all messages that an operation moves in its time.
        let rate = |estimate: &Option<Estimate>, unit| {
            let times = |of: f64| of * self.messages as f64;
            let of_all = |one: &Estimate| Estimate {
                value: times(one.value),
                low: times(one.low),
                high: times(one.high),
                ..*one
            };
            parameter(&estimate.as_ref().map(of_all), unit)
        };
        Ok(Segment {
            from_bytes: segment.from_bytes,
            to_bytes: segment.to_bytes,
            points: segment.points as u64,
            r_inf: rate(&segment.r_inf, Unit::BytePerSecond)?,
            n_half: parameter(&segment.n_half, Unit::Byte)?,
            t0: parameter(&segment.t0, Unit::Second)?,
            pi0: rate(&segment.pi0, Unit::PerSecond)?,
            r_squared: segment.line.as_ref().map(|line| Number(line.r_squared)),
            residuals: segment.residuals.map(Residuals::from),
            line: segment.line.as_ref().map(|line| SegmentLine {
                intercept: Seconds::from(Ns(line.intercept)),
                per_byte: Seconds::from(Ns(line.slope)),
            }),
        })
    }
}

/// A sentence for each segment whose parameters count as not converged since the times do not follow its
/// line.
fn marked(fit: &Fit) -> impl Iterator<Item = String> {
    let has_parameters = |of: &&Fitted| of.misfit && (of.r_inf.is_some() || of.t0.is_some());
    fit.segments.iter().filter(has_parameters).map(|of| {
        format!(
            "From {} to {} the parameters count as not converged (*), whatever their intervals: the times do \
             not follow the line.",
            Bytes(of.from_bytes),
            Bytes(of.to_bytes)
        )
    })
}

/// Between the sizes that it separates: their geometric mean. One that was given stays where it is, and has no
/// interval.
fn breakpoint(found: &Found) -> Breakpoint {
    let Found { last_below, first_above, low, high, given } = *found;
    let between = (last_below.max(1) as f64 * first_above as f64).sqrt().round();
    let bound = |bytes: u64| (!given).then_some(Number(bytes as f64));
    let bytes = if given { low as f64 } else { between };
    Breakpoint { bytes: Number(bytes), low: bound(low), high: bound(high) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bandgap_model::hockney::{Breaks, sized_times_from_pairs};

    /// The relative fit of a single line through these times.
    fn relative(time: impl Fn(f64) -> f64) -> Hockney {
        let sizes = (10..22).map(|power| 1u64 << power);
        let times = sized_times_from_pairs(sizes.map(|bytes| (bytes, time(bytes as f64))));
        let options =
            HockneyOptions { breaks: Breaks::At(Vec::new()), ..HockneyOptions::default() };
        let fitting = Fitting {
            name: "echo",
            transport: "shm",
            which: Which::default(),
            messages: 1,
            rule: Rule { precision: 1e6, stamp: 0.0 },
            notes: Vec::new(),
            lost: Vec::new(),
        };
        let ([relative, _], _) = fitting.fit(&times, &options).unwrap();
        relative
    }

    fn is_marked(fit: &Hockney) -> bool {
        let said = "From 1 KiB to 2 MiB the parameters count as not converged";
        let converged: Vec<bool> = fit.segments[0].found().map(|(_, of)| of.converged).collect();
        assert!(!converged.is_empty());
        let told = fit.findings.iter().any(|finding| finding.starts_with(said));
        assert!(converged.iter().all(|of| *of != told), "{fit:?}");
        told
    }

    #[test]
    fn what_is_in_doubt_is_named_once_in_a_few_words() {
        // Below zero at n = 0, ever steeper; and again far longer: both lines, in both fits.
        let time = |bytes: f64| if bytes < 1e5 { bytes.powf(1.5) } else { 1e9 + bytes.powf(1.5) };
        let times = sized_times_from_pairs((10..24).map(|power| {
            let bytes = 1u64 << power;
            (bytes, time(bytes as f64))
        }));
        let breaks = Breaks::At(vec![1 << 16]);
        let options = HockneyOptions { breaks, ..HockneyOptions::default() };
        let fitting = Fitting {
            name: "CSV",
            transport: "table",
            which: Which::default(),
            messages: 1,
            rule: Rule { precision: 0.05, stamp: 0.0 },
            notes: Vec::new(),
            lost: Vec::new(),
        };
        let (_, doubts) = fitting.fit(&times, &options).unwrap();
        assert_eq!(
            doubts[..4],
            ["times off the line", "no t0", "no n½", "no π0"]
                .map(|what| { format!("1 KiB to 64 KiB: {what}") })
        );
        assert!(doubts.iter().all(|name| name.len() < 40 && !name.ends_with('.')), "{doubts:?}");
        let mut once = doubts.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), doubts.len(), "{doubts:?}");
    }

    #[test]
    fn parameters_of_a_line_that_the_times_do_not_follow_have_not_converged() {
        let scattered = |bytes: f64| {
            let share = if (bytes as u64).ilog2().is_multiple_of(2) { 1.005 } else { 0.995 };
            share * (5000.0 + bytes / 4.0)
        };
        // Any interval is narrow enough for the rule.
        assert!(!is_marked(&relative(scattered)));
        // A time that rises ever more steeply.
        assert!(is_marked(&relative(|bytes| 5000.0 + bytes.powf(1.3))));
        // A line that begins below zero gives r∞ and no t0.
        let below = relative(|bytes| scattered(bytes) - 5240.0);
        assert!(below.segments[0].t0.is_none() && below.segments[0].r_inf.is_some(), "{below:?}");
        assert!(is_marked(&below));
    }
}
