//! Sensitivities of small random schedules, full of ties, against replays with other parameters.

use bandgap_sim::{Goal, Loggops, sensitivity};
use proptest::prelude::*;

use super::model::tied;
use super::{goal, replay_goal};

/// Picoseconds of a unit, of which every time is a multiple: a few more change no order but that of ties.
const UNIT: i64 = 1_000_000;
/// Attoseconds of a byte that are a picosecond.
const PICO: i64 = 1_000_000;

fn parameters() -> impl Strategy<Value = Loggops> {
    (0_i64..4, 0_i64..4, 0_i64..4, 0_i64..3, 0_i64..3, 0_u64..5).prop_map(
        |(l, o, g, byte, more, eager)| {
            let of_bytes = [byte, more].map(|of| of * UNIT * PICO);
            let [l, o, g] = [l, o + byte.max(more), g].map(|of| of * UNIT);
            Loggops { parameters: [l, o, g, of_bytes[0], of_bytes[1]], eager }
        },
    )
}

fn end(goal: &Goal, of: &Loggops, parameter: usize, by: i64) -> i64 {
    let mut of = *of;
    of.parameters[parameter] += by * if parameter == 3 { PICO } else { 1 };
    // It may end no more, if a receive from any rank has another message.
    replay_goal(goal, &of).map_or(i64::MAX, |of| of.end())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn derivatives_are_differences_on_both_sides(text in tied(), of in parameters()) {
        let goal = goal(&text);
        let Ok((replayed, found)) = sensitivity(&goal, &of) else {
            prop_assert!(replay_goal(&goal, &of).is_err(), "{:?}", of);
            return Ok(());
        };
        for (parameter, derivative) in found.derivatives.into_iter().enumerate() {
            let mut jumps = false;
            for (sign, slope) in [(1, derivative.right), (-1, derivative.left)] {
                if sign < 0 && of.parameters[parameter] == 0 {
                    prop_assert_eq!(derivative.left, derivative.right);
                    continue;
                }
                let [once, twice] = [1, 2].map(|by| end(&goal, &of, parameter, sign * by));
                let ends = twice < i64::MAX;
                prop_assert_eq!(slope, if ends { sign * (twice - once) } else { 0 }, "{} {} {:?}", parameter, sign, of);
                jumps |= once - replayed.end() != sign * slope;
            }
            prop_assert_eq!(derivative.jumps, jumps, "{} {:?}", parameter, of);
        }
    }
}
