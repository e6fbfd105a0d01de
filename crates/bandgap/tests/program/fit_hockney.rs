//! `bandgap fit hockney`: tables and other tools' output, right and wrong.

use crate::subject::{Place, near, of_kind, value};

/// t = 2 µs + n/(1 GB/s), 2 ns off up and down by turns.
fn table() -> String {
    let mut text = "bytes,time_ns\n".to_owned();
    for (at, bytes) in [0, 64, 256, 1024, 4096, 16_384, 65_536].into_iter().enumerate() {
        let off = if at % 2 == 0 { 2.0 } else { -2.0 };
        text += &format!("{bytes},{}\n", 2000.0 + f64::from(bytes) + off);
    }
    text
}

#[test]
fn a_table_gives_all_four_parameters_in_both_weightings() {
    let place = Place::new();
    let file = place.file("times.csv", table());
    let run = place.run(["fit", "hockney", &file, "--json", "-"]).measured().json();
    let fits = of_kind(&run, "hockney");
    let weightings: Vec<_> = fits.iter().map(|fit| fit["weighting"].as_str().unwrap()).collect();
    assert_eq!(weightings, ["relative", "ordinary"]);
    for fit in fits {
        let [segment] = fit["segments"].as_array().unwrap().as_slice() else {
            panic!("one segment: {fit}");
        };
        near("t0", value(&segment["t0"]), 2e-6, 0.01);
        near("r∞", value(&segment["r_inf"]), 1e9, 0.01);
        near("n½", value(&segment["n_half"]), 2000.0, 0.01);
        near("π0", value(&segment["pi0"]), 5e5, 0.01);
        assert_eq!((&segment["from_bytes"], &segment["to_bytes"]), (&0.into(), &65_536.into()));
    }
    let text = place.run(["fit", "hockney", &file]).measured().stdout;
    assert!(text.contains("n½") && text.contains("read as CSV: 7 rows"), "{text}");
}

#[test]
fn breaks_may_be_given_and_standard_input_is_a_file() {
    let place = Place::new();
    let args = ["fit", "hockney", "-", "--breaks", "300", "--json", "-"];
    let run = place.run_with_input(args, table().as_bytes()).measured().json();
    let fit = of_kind(&run, "hockney")[0];
    let borders: Vec<_> = fit["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (s["from_bytes"].as_u64().unwrap(), s["to_bytes"].as_u64().unwrap()))
        .collect();
    assert_eq!(borders, [(0, 256), (1024, 65_536)]);
    assert!(fit["breakpoints"][0]["low"].is_null(), "{fit}");
}

#[test]
fn what_another_tool_printed_is_recognised() {
    let place = Place::new();
    // osu_latency prints microseconds, half of a round trip.
    let mut text = "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n".to_owned();
    for bytes in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096] {
        text += &format!("{bytes:<10}{:>18.2}\n", 10.0 + f64::from(bytes) * 0.01);
    }
    let file = place.file("osu.txt", text);
    let run = place.run(["fit", "hockney", &file, "--json", "-"]).measured().json();
    let fit = of_kind(&run, "hockney")[0];
    assert_eq!(fit["name"], "osu_latency");
    near("t0", value(&fit["segments"][0]["t0"]), 10e-6, 0.01);
    near("r∞", value(&fit["segments"][0]["r_inf"]), 1e8, 0.01);
}

#[test]
fn a_negative_startup_is_refused_with_its_reason() {
    let place = Place::new();
    let mut text = "bytes,time_ns\n".to_owned();
    for bytes in [1000, 2000, 3000, 4000, 5000] {
        text += &format!("{bytes},{}\n", bytes - 500);
    }
    let file = place.file("times.csv", text);
    let run = place.run(["fit", "hockney", &file, "--json", "-"]).measured().json();
    let fit = of_kind(&run, "hockney")[0];
    assert!(fit["segments"][0]["t0"].is_null() && fit["segments"][0]["pi0"].is_null(), "{fit}");
    let findings = fit["findings"].to_string();
    assert!(findings.contains("negative") || findings.contains("below zero"), "{findings}");
}

#[test]
fn defects_are_named_with_their_line() {
    let place = Place::new();
    for (text, told) in [
        ("", "empty"),
        ("bytes,time_ns\n", "no rows"),
        ("bytes,time_ns\n8,100\n16,NaN\n", "line 3"),
        ("bytes,time_ns\n8,100\n16,-3\n", "line 3"),
        ("bytes,time_ns\n8,100\n99999999999999999999,3\n", "line 3"),
        ("bytes,time_ns\n8,100\n16\n", "line 3"),
        ("bytes,time_ns,time_us\n8,100,0.1\n16,3,9\n", "line 1"),
        ("8 bytes took a while\n", "osu_latency"),
        ("bytes,time_ns\n8,100\n8,101\n", "size"),
    ] {
        let file = place.file("bad.txt", text);
        let finished = place.run(["fit", "hockney", &file]);
        assert_eq!(finished.code, Some(3), "{text:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(told), "{text:?}: {}", finished.stderr);
        assert!(finished.stdout.is_empty(), "{text:?}");
    }
    let missing = place.run(["fit", "hockney", "nowhere.csv"]);
    assert!(missing.stderr.contains("nowhere.csv"), "{}", missing.stderr);
}
