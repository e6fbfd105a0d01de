//! Findings: why a fit lacks a number, and which assumptions fail or are unchecked. What a
//! signature's parameters and its regime already say is not a finding.

/// One finding: the code of its note, with values.
///
/// Of a signature's arm and lines: the slope of the arm is not 1 within 5 % (`arm_slope`), or its
/// interval leaves that open (`arm_undecided`); messages after those on the line of os cost
/// something else although no reply can have returned (`send_only_bends`); the first reply returns
/// before a second message is issued, so os has no line (`send_only_unseen`); further points do not
/// confirm the slope at the largest M and Δ = 0 (`gap_unsettled`).
///
/// Of a Hockney fit: a size is far off every line (`size_left_out`). Of its segments: too few sizes
/// for a line, which needs 3 (`segment_too_short`); the intercept is not positive, so t0, n½ and π0
/// are absent (`startup_below_zero`); the interval of t0 reaches zero, so n½ and π0 are absent
/// (`startup_unresolved`); the time does not rise with the length, or the interval of the slope
/// reaches zero, so r∞ and n½ are absent (`rate_unresolved`); n½ lies outside the measured sizes,
/// and is absent (`half_length_outside`); the line misses the times by more than 10 %
/// (`line_missed`).
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The code of its note.
    pub code: &'static str,
    /// The end of the id of the parameter or segment concerned; empty if the finding concerns the
    /// whole.
    pub about: String,
    /// Its values. Times are in seconds.
    pub values: Vec<(&'static str, f64)>,
}

impl Finding {
    /// A finding with these values.
    pub fn new(
        code: &'static str,
        about: impl Into<String>,
        values: &[(&'static str, f64)],
    ) -> Finding {
        Finding { code, about: about.into(), values: values.to_vec() }
    }
}
