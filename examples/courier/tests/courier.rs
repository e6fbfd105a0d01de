//! The example as its users run it: a transport of one's own is a transport as any other.

use std::process::{Command, Output};

/// The example with these arguments, in an empty folder.
fn courier(args: &[&str], mistake: &str) -> Output {
    let mut run = Command::new(env!("CARGO_BIN_EXE_courier"));
    run.args(args).env("COURIER_WRONG", mistake).current_dir(std::env::temp_dir());
    run.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[cfg(not(feature = "wrong"))]
mod right {
    use serde_json::Value;

    use super::*;

    /// The result of this kind of a measurement over the transport.
    fn result(kind: &str, args: &[&str]) -> Value {
        let quiet = ["-t", "courier", "--no-save", "--quiet", "--json", "-"];
        let output = courier(&[args, &quiet].concat(), "");
        let told = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 8)), "{args:?}: {told}");
        let run: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = run["results"].as_array().unwrap().iter().find(|it| it["kind"] == kind);
        found.unwrap_or_else(|| panic!("{args:?}: {}", run["warnings"])).clone()
    }

    fn is_verified(args: &[&str]) {
        let series = result("series", &[&["comet"], args].concat());
        assert!(series["verified"] == true || series["name"] == "barrier", "{args:?}: {series}");
    }

    #[test]
    fn its_signature_is_measured() {
        let signature = result("series", &["signature", "--time-budget", "2s"]);
        assert_eq!(signature["transport"], "courier", "{signature}");
        assert_ne!(signature["points"].as_array().unwrap().len(), 0);
    }

    #[test]
    fn messages_arrive_as_they_were_sent() {
        // In words, and in pieces through exposed memory.
        for (ranks, size) in [("2", "8"), ("3", "40KiB")] {
            let hurried = ["-n", ranks, "--sizes", size, "--time-budget", "300ms"];
            is_verified(&[&["broadcast"], &hurried[..]].concat());
        }
    }

    #[test]
    #[ignore = "takes a minute"]
    fn every_kernel_of_comet_runs() {
        let matrices = ["--dimension", "64:64"];
        let kernels: [(&str, &[&str]); 12] = [
            ("update_guard", &matrices),
            ("shift_north", &matrices),
            ("shift_east", &matrices),
            ("transpose", &matrices),
            ("row_broadcast", &matrices),
            ("column_broadcast", &matrices),
            ("exchange", &["--sizes", "8"]),
            ("broadcast", &["--sizes", "8"]),
            ("echo", &["--sizes", "8"]),
            ("global_sum", &["--sizes", "8"]),
            ("barrier", &[]),
            ("overlap", &["--sizes", "8"]),
        ];
        for (kernel, points) in kernels {
            // Else one of two ranks is below the other.
            let across = matches!(kernel, "shift_east" | "column_broadcast");
            let mesh: &[&str] = if across { &["--mesh", "1x2"] } else { &[] };
            is_verified(&[&[kernel, "-n", "2", "--time-budget", "1s"], points, mesh].concat());
            is_verified(&[&[kernel, "-n", "4", "--time-budget", "1s"], points].concat());
        }
    }

    #[test]
    fn help_and_the_error_of_an_unknown_transport_name_it() {
        let help = text(&courier(&["comet", "--help"], "").stdout);
        assert!(help.contains("courier"), "{help}");
        let refused = courier(&["comet", "-t", "pigeon"], "");
        let told = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2));
        assert!(told.contains("courier"), "{told}");
    }
}

#[cfg(feature = "wrong")]
#[test]
fn each_mistake_ends_a_run_and_says_who_did_not_get_what() {
    let echo = ["comet", "echo", "-t", "courier", "--sizes", "8", "--deadline", "3s", "--no-save"];
    for (mistake, said) in [
        ("twice", "1 completions while 0 requests"),
        ("swapped", "a message of "),
        ("lost", "a message of "),
    ] {
        let output = courier(&echo, mistake);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(6), "{mistake}: {told}");
        assert!(told.contains("rank ") && told.contains(said), "{mistake}: {told}");
    }
}
