//! What the numbers of a fit do not say: why one is not given, and which assumption does not hold or is not checked.
//! What a signature's parameters and its regime say themselves is none.

/// One finding: the code of its note, with values.
///
/// Of a signature's arm and lines: the arm does not rise with slope 1 within 5 % (`arm_slope`), or it is not decided
/// (`arm_undecided`); messages behind the line of os cost something else before a reply can be back
/// (`send_only_bends`); the first reply is back before a second message is issued, so os has no line
/// (`send_only_unseen`); the slope at the largest M and Δ = 0 is not confirmed by further points (`gap_unsettled`).
///
/// Of a Hockney fit: a size is far off every line (`size_left_out`). Of its segments: it has no line, for which 3 sizes
/// are needed (`segment_too_short`); the intercept is not positive: t0, n½ and π0 are absent (`startup_below_zero`); the
/// interval of t0 reaches zero: n½ and π0 are absent (`startup_unresolved`); the time does not rise with the length, or
/// the interval of the slope reaches zero: r∞ and n½ are absent (`rate_unresolved`); n½ lies outside everything that was
/// measured, and is absent (`half_length_outside`); the line misses the times by more than 10 % (`line_missed`).
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The code of its note.
    pub code: &'static str,
    /// The end of the id that it is about: of a parameter or a segment; empty if it is about the whole.
    pub about: String,
    /// Its values. Times are seconds.
    pub values: Vec<(&'static str, f64)>,
}

impl Finding {
    /// One with these values.
    pub fn new(
        code: &'static str,
        about: impl Into<String>,
        values: &[(&'static str, f64)],
    ) -> Finding {
        Finding { code, about: about.into(), values: values.to_vec() }
    }
}
