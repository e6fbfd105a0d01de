//! Whatever stands in a table: bandgap fits it or says what is wrong with it.

use proptest::prelude::*;

use crate::program::subject::Place;

/// Something like a table: rows that may be right, and fields that may be anything.
fn table() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![4 => Just("issue"), 2 => Just("rtt"), 1 => Just("Issue"), 1 => Just("")];
    let number = prop_oneof![
        6 => (1_u32..200).prop_map(|n| n.to_string()),
        2 => any::<f64>().prop_map(|x| x.to_string()),
        1 => "[-+0-9.eEinfNa \"]{0,8}",
        1 => Just("1e308".to_owned()),
    ];
    let row = (kind, number.clone(), number.clone(), number).prop_map(
        |(kind, messages, delay, elapsed)| format!("{kind},{messages},{delay},{elapsed}"),
    );
    let line = prop_oneof![8 => row, 1 => "[ -~]{0,30}", 1 => Just("# a comment".to_owned())];
    let header = prop_oneof![
        9 => Just("kind,messages,delay_ns,elapsed_ns"),
        1 => Just("elapsed_ns,kind,delay_ns,messages,more"),
    ];
    (header, prop::collection::vec(line, 0..20))
        .prop_map(|(header, lines)| format!("{header}\n{}\n", lines.join("\n")).into_bytes())
}

/// Right in form, with times that no machine has: what the model makes of them must be told.
fn numbers() -> impl Strategy<Value = Vec<u8>> {
    let time = prop_oneof![0.0_f64..1e6, Just(0.0), Just(1e300), Just(5e-324)];
    let row =
        (any::<bool>(), 1_u64..100, 0_u32..3, time).prop_map(|(issue, messages, delay, t)| {
            let (kind, messages) = if issue { ("issue", messages) } else { ("rtt", 1) };
            format!("{kind},{messages},{},{t}\n", delay * 1000)
        });
    prop::collection::vec(row, 1..120).prop_map(|rows| {
        format!("kind,messages,delay_ns,elapsed_ns\n{}", rows.concat()).into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        // Each case is a process.
        cases: 48,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_table_is_fitted_or_refused(
        bytes in prop_oneof![
            3 => table(),
            3 => numbers(),
            1 => prop::collection::vec(any::<u8>(), 0..300),
        ],
    ) {
        let place = Place::new();
        let finished = place.run_with_input(["fit", "logp", "-"], &bytes);
        match finished.code {
            Some(0) => prop_assert!(finished.stdout.contains("LogP signature")),
            Some(3) => {
                prop_assert_eq!(&finished.stdout, "");
                prop_assert!(finished.stderr.starts_with("bandgap: failed to "), "{:?}", finished);
            }
            _ => prop_assert!(false, "{finished:?}"),
        }
        prop_assert_eq!(place.names(), Vec::<String>::new());
    }
}
