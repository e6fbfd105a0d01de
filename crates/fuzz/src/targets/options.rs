//! What is typed: sizes, times, rates, shares, lists of processors.

use bandgap_host::{format_cpu_list, parse_cpu_list};
use bandgap_units::{Bytes, Fraction, Ns, Rate};

use crate::{Shape, Target, Verdict};

pub(super) const OPTIONS: Target = Target {
    name: "options",
    about: "sizes, times, rates, shares, and lists of processors",
    shape: Shape::Lines,
    real: &[],
    made: || {
        let texts = [
            "64KiB", "1.5 us", "250ms", "10 GB/s", "5%", "0-3,8", "0-65535", "1e3", "0", "-1ns",
            "7", "2-2",
        ];
        texts.map(|text| text.as_bytes().to_vec()).to_vec()
    },
    wrong: Vec::new,
    words: &[
        "KiB", "MiB", "GiB", "TiB", "kB", "ns", "us", "\u{b5}s", "min", "h", "B/s", "MB/s", "%",
        "-", ",", "0-65535,",
    ],
    read,
    share: 9,
};

fn read(input: &[u8]) -> Verdict {
    let Ok(text) = str::from_utf8(input) else { return Verdict::Refused };
    let bytes = text.parse::<Bytes>();
    if let Ok(bytes) = bytes {
        assert_eq!(bytes.to_string().parse(), Ok(bytes));
    }
    let time = text.parse::<Ns>();
    if let Ok(time) = &time {
        assert!(time.0.is_finite());
    }
    let (rate, share) = (text.parse::<Rate>(), text.parse::<Fraction>());
    let cpus = parse_cpu_list(text);
    if let Ok(cpus) = &cpus
        && !cpus.is_empty()
    {
        let mut sorted = cpus.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let again = parse_cpu_list(&format_cpu_list(cpus));
        assert_eq!(again.expect("what was read and written can be read"), sorted);
    }
    let any = bytes.is_ok() || time.is_ok() || rate.is_ok() || share.is_ok() || cpus.is_ok();
    if any { Verdict::Accepted } else { Verdict::Refused }
}
