//! Points that were planned, and of which too little was measured.

use bandgap_campaign::Setting;

/// Names that are listed before the others are only counted.
const LISTED: usize = 4;

/// What brings the points, or why they are not there: who ended a run needs no advice on its time.
fn why_missing(setting: &Setting) -> &'static str {
    match setting.interrupted {
        true => "The run was interrupted.",
        false => "A longer --time-budget usually brings them.",
    }
}

/// Which of so many planned points have no value, and what helps; `None` where all have one.
pub(crate) fn missing(places: &[String], planned: usize, setting: &Setting) -> Option<String> {
    let mut named: Vec<String> = places.iter().take(LISTED).cloned().collect();
    if places.len() > LISTED {
        named.push(format!("{} more", places.len() - LISTED));
    }
    let have = if places.len() == 1 { "has" } else { "have" };
    (!places.is_empty()).then(|| {
        format!(
            "{} of {planned} points {have} no value, for want of batches that count: {}. {}",
            places.len(),
            named.join("; "),
            why_missing(setting)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_counted_and_the_first_of_it_named() {
        let all = ["0 B", "8 B", "64 B", "512 B", "4 KiB", "32 KiB"].map(str::to_owned);
        let done = Setting::default();
        assert_eq!(missing(&[], 6, &done), None);
        let said = |count: usize| missing(&all[..count], 6, &done).unwrap();
        assert!(said(1).starts_with("1 of 6 points has no value") && said(1).contains(": 0 B."));
        assert!(said(6).contains("6 of 6") && said(6).contains(": 0 B; 8 B; 64 B; 512 B; 2 more."));
        assert!(said(1).ends_with("A longer --time-budget usually brings them."));
        let ended = missing(&all, 6, &Setting { interrupted: true, ..done }).unwrap();
        assert!(
            ended.ends_with("The run was interrupted.") && !ended.contains("budget"),
            "{ended}"
        );
    }
}
