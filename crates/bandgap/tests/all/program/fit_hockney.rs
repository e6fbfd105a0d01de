//! `bandgap fit hockney`: tables and other tools' output, right and wrong.

use bandgap_results::{Run, Verdict};
use serde_json::Value;

use crate::program::subject::{Workdir, near, of_kind, value};

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
    let place = Workdir::new();
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
fn what_was_read_is_kept_with_the_fits() {
    let place = Workdir::new();
    let repeated = table() + "64,2066\n64,2062\n";
    let file = place.file("times.csv", repeated);
    place.run(["fit", "hockney", &file, "--quiet", "--out", "kept"]).ends(0);
    let kept: Vec<String> = std::fs::read_dir(place.path("kept"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in ["run.json", "values.csv", "series-CSV-table.svg"] {
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
    assert_eq!(repeated["time"]["samples"], 3);
    assert!(read("series-CSV-table.svg").contains("<svg"));
}

#[test]
fn a_size_is_off_its_line_by_one_number() {
    let place = Workdir::new();
    let csv: String = (0..8).map(|at| format!("{},{}\n", 1 << at, [10.0, 2.5][at % 2])).collect();
    let imb = "0 100 0.30 0\n1 100 0.37 2.73\n2 100 0.41 4.85\n4 100 0.36 11\n8 100 0.41 19.48\n\
        16 100 0.42 37.66\n32 100 0.47 68.42\n64 100 0.53 121.8\n128 100 0.50 255.43\n";
    let head = "# Benchmarking PingPong\n #bytes #repetitions t[usec] Mbytes/sec\n";
    for table in [format!("bytes,time_us\n{csv}"), format!("{head}{imb}")] {
        let file = place.file("table", table);
        let run = place.run(["fit", "hockney", &file, "--json", "-"]).ends(0).json();
        let segment = &of_kind(&run, "hockney")[0]["segments"][0];
        let of = |name: &str| segment[name].as_f64().unwrap();
        let points = of_kind(&run, "series")[0]["points"].as_array().unwrap();
        let worst = points.iter().find(|of| of["bytes"] == segment["worst_bytes"]).unwrap();
        let line = of("intercept") + of("per_byte") * of("worst_bytes");
        near("worst", 1.0 + of("worst_residual"), value(&worst["time"]) / line, 1e-9);
        let notes = run["notes"].as_array().unwrap();
        for missed in notes.iter().filter(|note| note["code"] == "line_missed") {
            assert_eq!(missed["values"]["worst"], segment["worst_residual"]);
            assert_eq!(missed["values"]["rms"], segment["rms_residual"]);
        }
        // Once in the table of segments, once in that of times or in the note.
        let share = format!("{:+.0} %", 100.0 * of("worst_residual"));
        let screen = place.run(["fit", "hockney", &file, "--out", "kept"]).ends(0).stdout;
        assert!(screen.matches(&share).count() >= 2, "{share}: {screen}");
        // How many values are in doubt is one number, too.
        let text = std::fs::read_to_string(place.path("kept/run.json")).unwrap();
        let Verdict { counted, doubtful, limited, .. } =
            Verdict::of(&Run::from_json(text.as_bytes()).unwrap());
        let doubts = format!("{} of {counted} ", doubtful.len() + limited.len());
        assert!(!doubtful.is_empty());
        for how in [&[][..], &["-v"], &["--why"]] {
            let shown = place.run(["show", "kept"].iter().chain(how)).ends(0).stdout;
            assert!(shown.contains(&doubts), "{doubts}: {shown}");
        }
        std::fs::remove_dir_all(place.path("kept")).unwrap();
    }
}

#[test]
fn breaks_may_be_given_and_standard_input_is_a_file() {
    let place = Workdir::new();
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

/// A table of the tests' data.
fn read(text: &str) -> Value {
    Workdir::new()
        .run_with_input(["fit", "hockney", "-", "--json", "-"], text.as_bytes())
        .measured()
        .json()
}

/// The sizes that notes say are left out.
fn left_out(run: &Value) -> Vec<u64> {
    let notes = run["notes"].as_array().unwrap().iter();
    let left_out = notes.filter(|note| note["code"] == "size_left_out");
    left_out.map(|note| note["values"]["bytes"].as_f64().unwrap() as u64).collect()
}

#[test]
fn a_size_that_stalled_is_left_out_and_named() {
    let run = read(include_str!("data/line_one_stall.txt"));
    assert_eq!(left_out(&run), [64 << 10]);
    for fit in of_kind(&run, "hockney") {
        let segment = &fit["segments"][0];
        near("r∞", value(&segment["r_inf"]), 1e9, 0.001);
        near("t0", value(&segment["t0"]), 10e-6, 0.001);
        assert_eq!((&segment["points"], &segment["t0"]["converged"]), (&22.into(), &true.into()));
    }
    let whole = read(include_str!("data/line.txt"));
    assert!(left_out(&whole).is_empty());
    assert_eq!(of_kind(&whole, "hockney")[0]["segments"][0]["points"], 23);
}

/// What other tools print is read as well; all of their layouts are tested where they are read.
#[test]
fn the_output_of_another_tool_is_a_table() {
    let rows = (0..=20).map(|power| 1_u64 << power);
    let rows: String =
        rows.map(|bytes| format!("{bytes:<10}{:>20.2}\n", 3.0 + bytes as f64 / 2000.0)).collect();
    let text = format!("# OSU MPI Latency Test v5.6.3\n# Size          Latency (us)\n{rows}");
    let args = ["fit", "hockney", "-", "--json", "-"];
    let run = Workdir::new().run_with_input(args, text.as_bytes()).ends(0).json();
    let fit = of_kind(&run, "hockney")[0];
    assert_eq!(fit["name"], "osu_latency");
    near("t0", value(&fit["segments"][0]["t0"]), 3e-6, 0.01);
    near("r∞", value(&fit["segments"][0]["r_inf"]), 2e9, 0.01);
}

#[test]
fn hints_for_a_fitted_table_name_only_options_of_fits() {
    let place = Workdir::new();
    let few = "# Size  Latency (us)\n2  5.86\n4  5.86\n8  5.91\n";
    let mut signature = "kind,messages,delay_ns,elapsed_ns\n".to_owned();
    let points = [(1, 1.0), (2, 1.1), (4, 1.2), (8, 1.0), (16, 1.3), (32, 1.1)];
    for (messages, off) in points.into_iter().flat_map(|(m, off)| [(m, off), (m, 1.05 * off)]) {
        let rtt = off * f64::from(messages) * 2000.0;
        signature += &format!("rtt,{messages},0,{rtt}\n");
        for delay in [0.0, 500.0, 1000.0, 4000.0] {
            let queued = 200.0 * f64::from(messages - 5).max(0.0);
            let time = off * (f64::from(messages) * (300.0 + delay) + queued);
            signature += &format!("issue,{messages},{delay},{time}\n");
        }
    }
    for (fit, table) in [("hockney", few), ("logp", &signature)] {
        let file = place.file(fit, table);
        place.run(["fit", fit, &file, "--quiet", "--out", &format!("kept-{fit}")]).measured();
        let why = place.run(["show", &format!("kept-{fit}"), "--why"]).ends(0).stdout;
        let help = place.run(["fit", fit, "--help"]).ends(0).stdout;
        assert!(why.contains('('), "{why}");
        let words = why.split(|c: char| !(c.is_alphanumeric() || c == '-'));
        for option in words.filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{option}: {why}");
        }
    }
}
