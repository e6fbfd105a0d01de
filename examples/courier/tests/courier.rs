//! The example as its users run it: a transport of one's own is a transport as any other.

use std::process::{Command, Output};

use serde_json::Value;

/// The example with these arguments, in an empty folder.
fn courier(args: &[&str]) -> Output {
    let folder = std::env::temp_dir();
    Command::new(env!("CARGO_BIN_EXE_courier")).args(args).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[cfg(not(feature = "wrong"))]
mod right {
    use super::*;

    /// The results of a measurement over the transport, as a program reads them.
    fn results(args: &[&str]) -> Vec<Value> {
        let hurried = ["-t", "courier", "--no-save", "--quiet", "--json", "-"];
        let output = courier(&[args, &hurried].concat());
        let told = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 8)), "{args:?}: {told}");
        let run: Value = serde_json::from_slice(&output.stdout).unwrap();
        run["results"].as_array().unwrap().clone()
    }

    #[test]
    fn a_signature_has_a_round_trip() {
        let results = results(&["signature", "--time-budget", "2s"]);
        let signature = results.iter().find(|result| result["kind"] == "signature").unwrap();
        assert_eq!(signature["transport"], "courier", "{signature}");
        assert!(signature["rtt"]["value"].as_f64() > Some(0.0), "{signature}");
    }

    #[test]
    fn every_kernel_runs_and_each_message_is_compared() {
        for ranks in ["2", "4"] {
            let results = results(&["comet", "-n", ranks, "--sizes", "8,40KiB", "--time-budget", "4s"]);
            let series = results.iter().filter(|result| result["kind"] == "series");
            let verified: Vec<_> = series.map(|series| &series["verified"]).collect();
            assert!(verified.len() >= 9 && verified.iter().all(|it| *it == true), "{verified:?}");
        }
    }

    #[test]
    fn help_and_the_error_of_an_unknown_transport_name_it() {
        let help = text(&courier(&["comet", "--help"]).stdout);
        assert!(help.contains("courier"), "{help}");
        let refused = courier(&["comet", "-t", "pigeon"]);
        let told = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2));
        assert!(told.contains("courier"), "{told}");
    }
}
