//! `bandgap breakdown` inside an MPI: what it names, and where it ends.

use serde_json::Value;

use crate::program::mpi::{as_root, launchers, run};
use crate::program::subject::{BINARY, Finished, REMOTE, Workdir, named, of_kind, skipped, value};

/// A breakdown that starts its ranks by a launcher, with these variables.
fn breakdown(place: &Workdir, launcher: &[String], environment: &[(&str, &str)]) -> Finished {
    let mut command = place.command(BINARY);
    command.args("breakdown -t mpi -n 2 --time-budget 5s --no-save --json - -q".split(' '));
    command.args(["--launch-with", &format!("{} {{ranks}}", launcher.join(" "))]);
    as_root(&mut command);
    command.envs(environment.iter().copied());
    run(command)
}

#[test]
fn each_model_has_its_components_over_posix_and_what_ucx_does_not_carry_is_refused() {
    let place = Workdir::new();
    for launcher in launchers() {
        // Open MPI's own messages within a host. MPICH may have none.
        if launcher[0].contains("mpirun") {
            breakdown(&place, &launcher, &[("OMPI_MCA_pml", "ob1")]).ends(REMOTE);
        }
        // UCP opens more interfaces than it keeps.
        let posix = [("UCX_TLS", "posix,tcp,self"), ("UCX_UNIFIED_MODE", "y")];
        let found = breakdown(&place, &launcher, &posix);
        if found.code == Some(REMOTE) {
            skipped(format_args!("no UCX below {}: {}", launcher[0], found.stderr.trim()));
            continue;
        }
        let run = found.measured().json();
        let of = of_kind(&run, "breakdown")[0];
        let component = |term: &Value| term["component"].as_str().unwrap().to_owned();
        let components = |model: &str| -> Vec<String> {
            let rows = named(&of["models"], model)["rows"].as_array().unwrap();
            rows.iter().flat_map(|row| row.as_array().unwrap()).map(component).collect()
        };
        let received: &[&str] = match of["measured"]["passes"]["latency"].as_str().unwrap() {
            passed if passed.contains("callback") => &["rx_callback_ucp", "rx_callback_mpi"],
            _ => &["rx_callback"],
        };
        let sent = ["hlp_post_mpi", "hlp_post_ucp", "transport"];
        assert_eq!(components("latency"), [&sent[..], received, &["misc"]].concat());
        assert_eq!(
            components("coarse_latency"),
            ["sender_software", "between", "receiver_software"]
        );
        let window = ["window_post_mpi", "window_post_ucp", "llp_post", "post_prog"];
        assert_eq!(components("injection"), window);
        for model in of["models"].as_array().unwrap() {
            let sum: f64 = model["rows"][0]
                .as_array()
                .unwrap()
                .iter()
                .map(|term| value(&named(&of["components"], &component(term))["time"]))
                .sum();
            assert!(value(&model["observed"]) > 0.0 && sum > 0.0, "{model}");
            assert!((value(&model["modelled"]) / sum - 1.0).abs() < 1e-9, "{model}: {sum}");
        }
    }
}
