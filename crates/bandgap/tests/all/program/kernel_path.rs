//! `bandgap breakdown --kernel-path`, where the kernel can be traced, and what is said where it cannot.

use serde_json::Value;

use crate::program::subject::{Finished, Place, measuring, of_kind, value, with_time_enough};

/// Whether the kernel cannot be traced here, which is then told.
fn is_refused(finished: &Finished) -> bool {
    finished.code == Some(7) && finished.stderr.contains("failed to trace the kernel: ")
}

/// The instances of the kernel's tracing that there are, as far as they can be seen.
fn instances(place: &Place) -> String {
    let line = "unshare --mount sh -c 'mount -t tracefs tracefs /mnt && ls /mnt/instances'";
    place.shell(line).stdout
}

/// A run with the kernel's path, from runs that have more and more time; its launcher's number, and what it printed. None
/// where the kernel cannot be traced.
fn traced(place: &Place, transport: &str) -> Option<(Value, String, String)> {
    with_time_enough(|budget| {
        let _ = std::fs::remove_file(place.path("run.json"));
        let finished = place.shell(&format!(
            "echo $$ > launcher; exec bandgap breakdown --transport {transport} --kernel-path --no-save --json run.json \
             --time-budget {budget}"
        ));
        if is_refused(&finished) {
            eprintln!("SKIPPED: the kernel's path over {transport}: {}", finished.stderr);
            assert!(finished.stdout.is_empty(), "{finished:?}");
            return Some(None);
        }
        let finished = finished.measured();
        let run = std::fs::read_to_string(place.path("run.json")).unwrap();
        let run: Value = serde_json::from_str(&run).unwrap();
        let has = of_kind(&run, "breakdown").len() == 1 && of_kind(&run, "kernel_path").len() == 1;
        let launcher = std::fs::read_to_string(place.path("launcher")).unwrap();
        has.then(|| Some((run, launcher.trim().to_owned(), finished.stdout)))
    })
}

#[test]
fn the_kernels_path_stands_beside_a_breakdown_and_leaves_nothing_behind() {
    let _alone = measuring();
    let over_ip = ["net_dev_queue", "netif_rx", "netif_receive_skb"];
    let of_tcp = ["tcp_sendmsg_locked", "tcp_probe"];
    for (transport, passed, not) in [
        ("tcp", [&over_ip[..], &of_tcp].concat(), vec![]),
        ("udp", over_ip.to_vec(), of_tcp.to_vec()),
        ("unix", vec![], [&over_ip[..], &of_tcp].concat()),
    ] {
        let place = Place::new();
        let Some((run, launcher, text)) = traced(&place, transport) else { return };
        let path = of_kind(&run, "kernel_path")[0];
        assert_eq!((&path["illustration"], &path["transport"]), (&true.into(), &transport.into()));
        let steps = path["steps"].as_array().unwrap();
        let of = |side: &str| -> Vec<&str> {
            let own = steps.iter().filter(|step| step["side"] == side);
            own.map(|step| step["event"].as_str().unwrap()).collect()
        };
        let (sender, receiver) = (of("sender"), of("receiver"));
        assert_eq!(sender.first(), Some(&"sys_enter_sendto"), "{path}");
        assert_eq!(sender.last(), Some(&"sys_exit_sendto"), "{path}");
        assert_eq!(receiver.first(), Some(&"sys_enter_recvfrom"), "{path}");
        assert_eq!(receiver.last(), Some(&"sys_exit_recvfrom"), "{path}");
        // Which of them a kernel has is its own matter.
        let lacks = |event: &&str| text.contains(&format!(":{event}"));
        let missing = passed.iter().find(|event| !sender.contains(event) && !lacks(event));
        assert_eq!(missing, None, "{path}\n{text}");
        assert!(!not.iter().any(|event| sender.contains(event)), "{path}");
        // Times since the call began ascend on the side of the sender.
        let times: Vec<f64> =
            steps[..sender.len()].iter().map(|of| value(&of["since_begin"])).collect();
        assert!(times[0] == 0.0 && times.is_sorted(), "{times:?}");
        let messages = path["messages"].as_u64().unwrap();
        // A good part of eight batches of fifty round trips.
        assert!(messages >= 100, "{path}");
        assert!(steps.iter().all(|step| step["seen"].as_u64() <= Some(messages)), "{path}");
        let [without, with] = ["without_events", "with_events"].map(|of| value(&path[of]));
        assert!(without > 0.0 && with > 0.0 && value(&path["ratio"]) > 0.0, "{path}");
        assert!(text.contains("The kernel's path, as an illustration"), "{text}");
        // The plan of the run is the breakdown's.
        assert_eq!(run["plan"]["name"], "breakdown");
        let left = instances(&place);
        assert!(!left.contains(&format!("bandgap-{launcher}-")), "{left}");
    }
}

#[test]
fn where_there_is_no_kernels_path_it_is_said() {
    let place = Place::new();
    for (args, said) in [
        (
            &["--kernel-path"][..],
            "trace the kernel's path over shm: its messages do not pass the kernel",
        ),
        (&["--kernel-path", "--from", "thunderx2-connectx4"], "cannot be used with"),
        (&["--kernel-path", "--pcie-trace", "-"], "cannot be used with"),
        (&["--kernel-path", "-t", "sim:paragon"], "in virtual time there is no software to time"),
    ] {
        let told = place.run(["breakdown"].iter().chain(args)).ends(2).stderr;
        assert!(told.contains(said), "{said}\n{told}");
    }
    // A user without rights, and a root without any outside its own name space.
    for (wrap, said) in [
        ("unshare --user", "only root may"),
        ("unshare --user --map-root-user", "mount -t tracefs"),
    ] {
        let finished = place.shell(&format!(
            "{wrap} true || exit 99; test ! -e /sys/kernel/tracing/instances || exit 99; \
             exec {wrap} bandgap breakdown --transport tcp --kernel-path --no-save --time-budget 300ms"
        ));
        if finished.code == Some(99) {
            eprintln!("SKIPPED: `{wrap}` cannot be had, or tracefs is mounted: {finished:?}");
            continue;
        }
        let finished = finished.ends(7);
        assert!(finished.stderr.contains(said), "{finished:?}");
        assert!(finished.stdout.is_empty(), "{finished:?}");
    }
    assert!(place.names().is_empty());
}
