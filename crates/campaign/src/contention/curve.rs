//! The curve of echo alone, from which the lengths of the loads' messages are chosen.

/// Bytes of its messages: powers of four.
pub(super) const CURVE: [u32; 8] =
    [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// The smallest length at which messages reach this share of the greatest bandwidth, from a curve
/// of (length, time) with ascending lengths.
///
/// *Formula*: between two neighbours of the curve, t = a + b·n; so n/t = r at n = r·a/(1 − r·b).
/// *Assumes* that the bandwidth rises up to there.
pub(super) fn reaching(curve: &[(u32, f64)], share: f64) -> Option<u32> {
    let rate = |&(bytes, time): &(u32, f64)| f64::from(bytes) / time;
    let wanted = share * curve.iter().map(rate).fold(0.0, f64::max);
    let first = curve.iter().position(|at| rate(at) >= wanted)?;
    let (bytes, time) = curve[first];
    let Some(&(below, before)) = first.checked_sub(1).and_then(|at| curve.get(at)) else {
        return Some(bytes);
    };
    let slope = (time - before) / f64::from(bytes - below);
    let start = before - slope * f64::from(below);
    let length = wanted * start / (1.0 - wanted * slope);
    Some(if length.is_finite() { (length.ceil() as u32).clamp(below, bytes) } else { bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_reach_their_share_of_the_peak() {
        // t = 100 + n: the peak is 1000/1100, half of it is reached where n/(100 + n) = 5/11, at 250/3.
        let curve: Vec<(u32, f64)> = [1, 10, 100, 1000].map(|n| (n, 100.0 + f64::from(n))).to_vec();
        assert_eq!(reaching(&curve, 0.5), Some(84));
        // 9/11 at 450.
        assert!(matches!(reaching(&curve, 0.9), Some(450 | 451)));
        assert_eq!(reaching(&curve, 1.0), Some(1000));
        assert_eq!(reaching(&curve[..1], 0.5), Some(1));
        assert_eq!(reaching(&[], 0.5), None);
    }
}
