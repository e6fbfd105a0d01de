//! Lists of cores, in the notation of the kernel and of users: `0-3,8`.

use crate::{HostError, Result};

/// Highest core number accepted: far above the kernel's limit (8192), but so low that a mistyped
/// range cannot exhaust memory.
pub(crate) const HIGHEST: usize = 65_535;

/// Parses a list of cores such as `0-3,8`, and keeps its order. An empty text is an empty list.
///
/// # Errors
/// [`HostError::CpuList`] names the part that is neither a number nor an ascending range.
pub fn parse_cpu_list(text: &str) -> Result<Vec<usize>> {
    let text = text.trim();
    let mut cpus = Vec::new();
    if text.is_empty() {
        return Ok(cpus);
    }
    for token in text.split(',').map(str::trim) {
        let wrong = |problem| HostError::CpuList {
            text: text.to_owned(),
            token: token.to_owned(),
            problem,
        };
        let (first, last) = token.split_once('-').unwrap_or((token, token));
        let (Some(first), Some(last)) = (core(first), core(last)) else {
            return Err(wrong("is neither a core (5) nor a range of cores (0-3)"));
        };
        if first > last {
            return Err(wrong("is descending: write the smaller core first"));
        }
        if last > HIGHEST {
            return Err(wrong("is beyond core 65535"));
        }
        cpus.extend(first..=last);
        if cpus.len() > HIGHEST + 1 {
            return Err(wrong("makes the list longer than any machine has cores"));
        }
    }
    Ok(cpus)
}

/// Accepts only digits: `parse` alone would also accept a plus sign.
fn core(text: &str) -> Option<usize> {
    let text = text.trim();
    if text.starts_with('+') { None } else { text.parse().ok() }
}

/// Formats a list of cores as the kernel does: ascending, with ranges. `none` for an empty list.
pub fn format_cpu_list(cpus: &[usize]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let runs: Vec<String> = sorted
        .chunk_by(|a, b| a + 1 == *b)
        .map(|run| match run {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        })
        .collect();
    if runs.is_empty() { "none".to_owned() } else { runs.join(",") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_keep_the_written_order() {
        assert_eq!(parse_cpu_list("0-3,8\n").unwrap(), [0, 1, 2, 3, 8]);
        assert_eq!(parse_cpu_list(" 5, 2 ,2").unwrap(), [5, 2, 2]);
        assert!(parse_cpu_list("").unwrap().is_empty());
    }

    #[test]
    fn errors_name_the_bad_part() {
        for (text, bad) in [
            ("0,x", "x"),
            ("1,,2", ""),
            ("3-1", "3-1"),
            ("0-", "0-"),
            ("-1", "-1"),
            ("+1", "+1"),
            ("0-99999999999", "0-99999999999"),
            ("99999999999999999999999", "99999999999999999999999"),
            ("1-2-3", "1-2-3"),
            ("0-65535,0-65535,0-65535", "0-65535"),
        ] {
            match parse_cpu_list(text) {
                Err(HostError::CpuList { token, .. }) => assert_eq!(token, bad),
                other => panic!("{text:?} gave {other:?}"),
            }
        }
    }

    #[test]
    fn an_empty_list_has_a_name() {
        assert_eq!(format_cpu_list(&[]), "none");
    }

    proptest! {
        #[test]
        fn writing_and_reading_agree(cpus in proptest::collection::btree_set(0_usize..600, 1..80)) {
            let cpus: Vec<usize> = cpus.into_iter().collect();
            let text = format_cpu_list(&cpus);
            prop_assert_eq!(parse_cpu_list(&text).unwrap(), cpus);
        }

        #[test]
        fn no_text_makes_it_panic(text in "[-0-9, +a:]{0,24}") {
            if let Err(HostError::CpuList { token, .. }) = parse_cpu_list(&text) {
                prop_assert!(text.contains(&token));
            }
        }
    }
}
