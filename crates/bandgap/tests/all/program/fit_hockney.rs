//! `bandgap fit hockney`: tables and other tools' output, right and wrong.

use bandgap_results::Run;

use crate::program::subject::{Place, near, of_kind, value};

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
    let run = place.run(["fit", "hockney", &file, "--json", "-"]).ends(0).json();
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
    // No files.
    assert_eq!(place.names(), ["times.csv"]);
}

#[test]
fn what_a_tool_printed_is_fitted_from_a_file_and_from_standard_input() {
    let place = Place::new();
    let rows = (0..=20).map(|power| {
        let bytes = 1_u64 << power;
        format!("{bytes:<10}{:>20.2}\n", 3.0 + bytes as f64 / 2000.0)
    });
    let text = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n".to_owned()
        + &rows.collect::<String>();
    let file = place.file("it.txt", &text);
    let from_file = place.run(["fit", "hockney", &file, "--json", "-"]).ends(0).json();
    let args = ["fit", "hockney", "-", "--json", "-"];
    for run in [from_file, place.run_with_input(args, text.as_bytes()).ends(0).json()] {
        for fit in of_kind(&run, "hockney") {
            assert_eq!(fit["name"], "osu_latency");
            near("t0", value(&fit["segments"][0]["t0"]), 3e-6, 0.01);
            near("r∞", value(&fit["segments"][0]["r_inf"]), 2e9, 0.01);
        }
    }
}

#[test]
fn what_was_read_is_kept_with_the_fits() {
    let place = Place::new();
    let repeated = table() + "64,2066\n64,2062\n";
    let file = place.file("times.csv", repeated);
    let finished = place.run(["fit", "hockney", &file, "--quiet", "--out", "kept"]).ends(0);
    assert!(finished.stderr.is_empty(), "{}", finished.stderr);
    let kept: Vec<String> = std::fs::read_dir(place.path("kept"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in ["run.json", "series.csv", "series.svg", "samples.csv"] {
        assert!(kept.iter().any(|kept| kept == name), "{name} is not in {kept:?}");
    }
    let read = |name: &str| std::fs::read_to_string(place.path("kept").join(name)).unwrap();
    let run = Run::from_json(read("run.json").as_bytes()).unwrap();
    let run = serde_json::to_value(&run).unwrap();
    let [series] = of_kind(&run, "series")[..] else { panic!("one series") };
    assert_eq!((&series["name"], &series["transport"]), (&"CSV".into(), &"table".into()));
    assert_eq!(series["points"].as_array().unwrap().len(), 7);
    // 62 − 2 + 2002, 2066 and 2062: 2064 on average, of three.
    let repeated = &series["points"][1];
    near("time", value(&repeated["time"]), 2063.33e-9, 1e-5);
    assert_eq!(repeated["batches"][0]["samples"].as_array().unwrap().len(), 3);
    assert!(series["findings"][0].as_str().unwrap().contains("9 rows of 7 sizes"), "{series}");
    assert!(read("series.svg").contains("<svg"));
    // What is kept is a table again, and gives the same.
    for name in ["samples.csv", "series.csv"] {
        let again = place.run(["fit", "hockney", &format!("kept/{name}"), "--json", "-"]).ends(0);
        let again = again.json();
        let t0 = |run: &serde_json::Value| value(&of_kind(run, "hockney")[0]["segments"][0]["t0"]);
        near(name, t0(&again), t0(&run), 1e-6);
    }
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
    assert_eq!(fit["breakpoints"][0]["bytes"], 300.0, "{fit}");
}

#[test]
fn breaks_that_part_nothing_are_refused() {
    let place = Place::new();
    let file = place.file("times.csv", table());
    for (breaks, told) in [
        ("1MiB", "a break at 1 MiB leaves no sizes on one side; the sizes are 0 B to 64 KiB"),
        ("64KiB", "a break at 64 KiB leaves no sizes on one side"),
        ("4KiB,300", "the break at 300 B comes after the one at 4 KiB; breaks ascend"),
        ("300,300", "breaks ascend"),
        ("300,400", "there is no size between the breaks at 300 B and 400 B"),
    ] {
        let finished = place.run(["fit", "hockney", &file, "--breaks", breaks]).ends(2);
        assert!(finished.stderr.contains(told), "{breaks}: {}", finished.stderr);
        assert!(finished.stderr.contains("leave the option out"), "{}", finished.stderr);
        assert!(finished.stdout.is_empty());
    }
    place.run(["fit", "hockney", &file, "--segments", "0"]).ends(2);
    // Sizes between them, but too few for a line: the others' parameters are given.
    let run = place.run(["fit", "hockney", &file, "--breaks", "64", "--json", "-"]).ends(0).json();
    let fit = of_kind(&run, "hockney")[0];
    assert!(fit["segments"][0]["t0"].is_null() && fit["segments"][1]["t0"].is_object(), "{fit}");
    assert!(fit["findings"].to_string().contains("too few sizes for a line, 2 where 3"), "{fit}");
}

/// The relative fit of a table of these times, which says that it must not be trusted, and the text
/// that is printed.
#[track_caller]
fn doubted(rows: impl Iterator<Item = (u64, f64)>) -> (serde_json::Value, String) {
    let place = Place::new();
    let rows: String = rows.map(|(bytes, time)| format!("{bytes},{time}\n")).collect();
    let file = place.file("times.csv", format!("bytes,time_ns\n{rows}"));
    let args = ["fit", "hockney", &file, "--segments", "1"];
    let run = place.run(args.iter().chain(&["--json", "-"])).ends(0).json();
    let text = place.run(args).ends(0).stdout;
    // Those who ask for a verdict get it.
    let strict = place.run(args.iter().chain(&["--strict"])).ends(1);
    assert_eq!(strict.stdout, text);
    // And what it is of, whose reason is a finding.
    let named = strict.stderr.strip_prefix("bandgap: doubtful: ").expect(&strict.stderr);
    let (range, _) = named.split_once(": ").expect(named);
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(folded.contains(&format!("From {range}")), "{named}");
    (of_kind(&run, "hockney")[0].clone(), text)
}

#[test]
fn a_verdict_names_the_first_few_doubts_and_counts_the_others() {
    let place = Place::new();
    // Ever steeper and below zero at n = 0, in three segments: no t0, n½ and π0 of any.
    let rows = (10..22).map(|power| 1u64 << power);
    let rows: String =
        rows.map(|bytes| format!("{bytes},{}\n", (bytes as f64).powf(1.5))).collect();
    let file = place.file("times.csv", format!("bytes,time_ns\n{rows}"));
    let args = ["fit", "hockney", &file, "--breaks", "16KiB,256KiB", "--strict"];
    let told = place.run(args).ends(1).stderr;
    let few = "bandgap: doubtful: 1 KiB to 16 KiB: ";
    assert!(told.starts_with(few) && told.contains("no t0, no n½, no π0"), "{told}");
    assert!(told.contains("; and ") && told.ends_with(" more\n"), "{told}");
    assert!(told.chars().count() < 160 && !told.contains('.'), "{told}");
}

#[test]
fn what_the_times_do_not_support_is_refused_with_its_reason() {
    let (fit, text) = doubted((1..=5).map(|k| (1000 * k, 1000.0 * k as f64 - 500.0)));
    for refused in ["t0", "n_half", "pi0"] {
        assert!(fit["segments"][0][refused].is_null(), "{refused}: {fit}");
    }
    assert!(
        text.contains("a startup time is\n  never negative") && text.contains("not found"),
        "{text}"
    );
    // n½ = 1 µs · 1 GB/s = 1000 bytes where none was longer than 50.
    let (fit, text) = doubted((0..6).map(|k| (10 * k, 1000.0 + 10.0 * k as f64)));
    assert!(fit["segments"][0]["n_half"].is_null() && fit["segments"][0]["t0"].is_object());
    assert!(
        text.contains("n½ would be 1000 B, outside of what was measured (0 B to 50 B)"),
        "{text}"
    );
    // Longer messages take less time.
    let (fit, text) = doubted((0..6).map(|k| (10 * k, 1000.0 - 10.0 * k as f64)));
    assert!(fit["segments"][0]["r_inf"].is_null(), "{fit}");
    assert!(text.contains("the time does not rise with the length"), "{text}");
    // A parabola is no line.
    let (fit, text) = doubted((1..40).map(|k| (100 * k, 1000.0 + (k * k) as f64)));
    let findings = fit["findings"].to_string();
    assert!(findings.contains("neighbouring sizes deviate alike"), "{fit}");
    assert!(findings.contains("the times do not follow a line"), "{fit}");
    assert!(text.contains("deviate alike"), "{text}");
}

#[test]
fn what_last_digits_leave_open_is_said() {
    let place = Place::new();
    let text: String =
        (0..12).map(|k| format!("{},{:.1}\n", 1 << k, 0.24 + f64::from(1 << k) / 2e3)).collect();
    let file = place.file("coarse.csv", format!("bytes,time_us\n{text}"));
    let printed = place.run(["fit", "hockney", &file]).measured().stdout;
    // 0.2 µs printed to 0.1 µs.
    assert!(printed.contains("by up to ±25 %. The intervals allow for that."), "{printed}");
    // The first five are 0.2 µs to the last digit, and still t0 may be the 0.24 µs that it is.
    let run = place.run(["fit", "hockney", &file, "--json", "-"]).measured().json();
    for fit in of_kind(&run, "hockney") {
        let t0 = &fit["segments"][0]["t0"];
        let (low, high) = (t0["low"].as_f64().unwrap(), t0["high"].as_f64().unwrap());
        assert!(low < 0.24e-6 && 0.24e-6 < high, "{t0}");
    }
}

#[test]
fn defects_are_named_with_their_line() {
    let place = Place::new();
    for (text, told) in [
        ("", ""),
        ("bytes,time_ns\n", ""),
        ("bytes,time_ns\n8,100\n16,NaN\n", "line 3: "),
        ("bytes,time_ns\n8,1e300\n16,2\n32,5\n", "line 2: "),
        ("8 bytes took a while\n", ""),
        ("bytes,time_ns\n8,100\n8,101\n", ""),
        ("# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n1  2.0\n2", "line 4: "),
    ] {
        let file = place.file("bad.txt", text);
        let finished = place.run(["fit", "hockney", &file]).ends(3);
        assert!(finished.stderr.contains(told), "{text:?}: {}", finished.stderr);
        assert!(finished.stdout.is_empty(), "{text:?}");
    }
    let missing = place.run(["fit", "hockney", "nowhere.csv"]).ends(3);
    assert!(missing.stderr.contains("nowhere.csv"), "{}", missing.stderr);
    place.run(["fit", "hockney", "-"]).ends(3);
}

#[test]
fn line_ends_and_byte_order_marks_of_other_systems_are_read() {
    let place = Place::new();
    let text = format!("\u{feff}{}", table().replace('\n', "\r\n"));
    let run = place.run_with_input(["fit", "hockney", "-", "--json", "-"], text.as_bytes());
    let run = run.ends(0).json();
    near("t0", value(&of_kind(&run, "hockney")[0]["segments"][0]["t0"]), 2e-6, 0.01);
}
