//! Ranks on several hosts: the hosts of the test bed, which are namespaces of this machine.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::fabrics::here;
use crate::program::subject::{
    BINARY, COMMUNICATION, Finished, INTERRUPTED, PATIENCE, RANK, REMOTE, USAGE, Workdir, skipped,
    wait,
};

/// Hosts h0, h1, … for as long as this lives.
struct Bed {
    name: String,
}

impl Bed {
    /// A bed, and whether it has Slurm; none, and said, where this machine does not allow one.
    fn up(number: u32, hosts: usize) -> Option<Self> {
        let bed = Self { name: format!("t{}-{number}", std::process::id() % 10_000) };
        let made = bed.script(["up", &hosts.to_string()]).output().unwrap();
        if !made.status.success() {
            skipped(format_args!("no hosts: {}", String::from_utf8_lossy(&made.stderr)));
            return None;
        }
        Some(bed)
    }

    fn script<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testbed");
        let mut command = Command::new(script);
        command.env("TESTBED", &self.name).args(args);
        command
    }

    fn does(&self, line: &str) {
        let done = self.script(line.split(' ')).output().unwrap();
        assert!(done.status.success(), "testbed {line}: {done:?}");
    }

    /// A command line on h0, where the launcher is.
    fn on(&self, place: &Workdir, line: &str) -> Command {
        let mut command = self.script(["on", "h0"]);
        command.args(line.split(' ').map(|word| word.replace("BANDGAP", BINARY)));
        command.current_dir(place.work()).env("LC_ALL", "C.UTF-8");
        command
    }

    fn run(&self, place: &Workdir, line: &str) -> Finished {
        let mut command = assert_cmd::Command::from_std(self.on(place, line));
        Finished::from(command.timeout(PATIENCE).output().unwrap())
    }

    /// The processes on a host whose command lines have this in them.
    fn processes(&self, host: &str, what: &str) -> Vec<u32> {
        let space = format!("{}-{host}", self.name);
        let pids = Command::new("ip").args(["netns", "pids", &space]).output().unwrap();
        let pids = String::from_utf8_lossy(&pids.stdout).into_owned();
        let pids = pids.lines().filter_map(|pid| pid.trim().parse().ok());
        let says = |pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let is = String::from_utf8_lossy(&line).replace('\0', " ").contains(what);
            // Those that have started it have its command line in theirs.
            let exe = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
            is && (!what.starts_with("bandgap") || *exe == *BINARY)
        };
        pids.filter(says).collect()
    }

    fn every_process(&self, hosts: &[&str], what: &str) -> Vec<u32> {
        hosts.iter().flat_map(|host| self.processes(host, what)).collect()
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        let _ = self.script(["down"]).output();
    }
}

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    // One that has just ended needs none.
    let _ = kill_process(pid, signal);
}

fn names(of: &Value) -> Vec<&str> {
    of.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn measured_between_hosts() {
    let Some(bed) = &Bed::up(1, 3) else { return };
    let place = &Workdir::new();
    let [few, longer] =
        ["2s", "6s"].map(|time| format!("--time-budget {time} --launches 2 --json - -q"));
    let between = format!("BANDGAP comms1 -H h1,h2 --sizes 8,64KiB {few}");
    let run = bed.run(place, &between).measured().json();
    let (of, placement) = (&run["setup"]["of"][0], &run["setup"]["of"][0]["placement"]);
    assert_eq!((&of["transport"], names(&placement["hosts"])), (&"tcp".into(), vec!["h1", "h2"]));
    assert_eq!((&placement["distance"], &of["ranks"]), (&"network".into(), &2.into()));
    assert!(run["conditions"][0]["verified"]["checked"].as_u64() > Some(0), "{run}");
    for (host, name) in [(&run["hosts"][0], "h1"), (&run["hosts"][1], "h2")] {
        assert_eq!((&host["name"], &host["network"]["name"]), (&name.into(), &"eth0".into()));
        assert_eq!(host["description"]["host_name"], name);
        assert!(host["clock"]["ns_per_tick"].as_f64() > Some(0.0));
    }
    for over in here().map(|of| if of.name == "ucx" { "ucx:tcp" } else { of.name }) {
        let line = format!("BANDGAP comms1 -t {over} -H h1,h2 --sizes 8,64KiB {few}");
        let run = bed.run(place, &line).measured().json();
        let of = &run["setup"]["of"][0];
        assert_eq!(
            (&of["transport"], &of["placement"]["distance"]),
            (&over.into(), &"network".into())
        );
        assert_ne!(of["library"]["facts"]["provider"], "shm", "{of}");
        assert!(run["conditions"][0]["verified"]["checked"].as_u64() > Some(0), "{run}");
    }
    let floors = format!("BANDGAP floor udp tcp -H h1,h2 --sizes 8,1KiB {longer}");
    let run = bed.run(place, &floors).measured().json();
    let floors = run["results"].as_array().unwrap();
    let udp = floors.iter().find(|of| of["name"] == "udp").unwrap();
    assert_eq!(udp["points"].as_array().unwrap().len(), 2, "{udp}");
    assert!(floors.iter().any(|of| of["name"] == "tcp"));
    // Where nothing is named, all slots take part in what all ranks do.
    let all = bed.run(place, &format!("BANDGAP synch1 -H h1:2,h2:2 {few}")).measured().json();
    assert_eq!(names(&all["setup"]["of"][0]["placement"]["hosts"]), ["h1", "h1", "h2", "h2"]);
    let matrix = bed
        .run(
            place,
            "BANDGAP pairs -H h1:2,h2 --launches 1 --time-budget 5s --json - -q --out pairs",
        )
        .measured()
        .json();
    assert_eq!(matrix["results"][0]["labels"]["at_once"], 1);
    assert!(place.path("pairs/series-pairs-tcp.svg").exists());
    let pairs = matrix["results"][0]["points"].as_array().unwrap().clone();
    let distances: Vec<&str> = pairs.iter().filter_map(|row| row["distance"].as_str()).collect();
    assert_eq!(distances, ["host", "network", "network"]);
    assert!(pairs.iter().any(|row| row["bandwidth"]["value"].as_f64() > Some(0.0)), "{pairs:?}");
    assert_eq!(names(&pairs[1]["hosts"]), ["h1", "h2"]);
    bed.does("noise h1");
    bed.run(place, &format!("BANDGAP synch1 -H h1,h2 {few}")).measured();
    // Each host is examined with as many ranks as it has slots; the hosts have one processor each.
    let doctor = bed.run(place, "BANDGAP doctor -H h1,h2:2 --json - -q");
    let hosts = doctor.json()["hosts"].as_array().unwrap().clone();
    assert_eq!(hosts.len(), 2);
    for (host, cores) in hosts.iter().zip(["good", "bad"]) {
        assert_eq!(host["noise"].as_array().map(Vec::len), Some(1), "{host}");
        let checks = host["checks"].as_array().unwrap();
        let grade = |name: &str| &checks.iter().find(|of| of["name"] == name).unwrap()["grade"];
        assert_eq!(grade("pinning"), "good");
        assert_eq!(grade("cores"), cores);
    }
    assert_eq!(doctor.code, Some(1));
    // A limited link: its rate comes out.
    bed.does("rate h2 100mbit");
    let slow = "--sizes 512KiB,2MiB --time-budget 6s --launches 1 --json - -q";
    let run = bed.run(place, &format!("BANDGAP comms1 -H h1,h2 {slow}")).measured().json();
    let series = run["results"].as_array().unwrap().iter().find(|of| of["kind"] == "series");
    let points = series.unwrap()["points"].as_array().unwrap();
    let [short, long] = [0, 1].map(|at| points[at]["time"]["value"].as_f64().unwrap());
    // What the bucket lets through at once counts for both.
    let rate = 1.5 * f64::from(1 << 20) / (long - short);
    // A frame of 9000 bytes has 8948 of the message, and 14 more on the link.
    let limit = 100e6 / 8.0 * 8948.0 / 9014.0;
    // Other programs may hold up the short ones more.
    assert!(rate > 0.0 && rate < 1.25 * limit, "{rate} of {limit} bytes a second");
    let slow = "--bandwidth-tolerance 40% --latency-tolerance 1000 --time-budget 6s --json - -q";
    let line = format!("BANDGAP pairs -H h0,h1,h2 --wait block {slow}");
    let run = bed.run(place, &line).measured().json();
    let found = run["notes"].as_array().unwrap().iter().find(|of| of["values"]["who"] == "h2");
    assert_eq!(found.unwrap()["code"], "slow_host_bandwidth");
    bed.does("rate h2 none");
}

#[test]
fn refused_with_the_host() {
    let Some(bed) = &Bed::up(2, 3) else { return };
    let place = &Workdir::new();
    let refused = |line: &str, code: i32, host: &str| {
        let finished = bed.run(place, &format!("BANDGAP {line} --no-save")).ends(code);
        assert!(finished.stderr.contains(host), "{finished:?}");
    };
    refused("synch1 -H h1,nowhere", REMOTE, "nowhere");
    refused("synch1 -H h1,h2 --interface eth7", REMOTE, "h1");
    refused("synch1 -H h1,h2 -n 3", REMOTE, "3 ranks");
    refused("synch1 -H h1,h2 -t shm", USAGE, "shm");
    refused("synch1 -H h1,h2 --ssh-command /nonexistent", REMOTE, "h1");
    refused("synch1 -H h1,h2 --cores h3:0", USAGE, "h3");
    refused("synch1 -H h1,nobody@h2", REMOTE, "nobody@h2");
    refused("synch1 -H h1,root@h1", REMOTE, "root@h1");
    bed.does("wall h2 up");
    // Rank 0 is called, so its host is the one behind the wall.
    refused("synch1 -H h2,h1 --deadline 2s", REMOTE, "h2");
    bed.does("wall h2 none");
    for fabric in here() {
        // What reaches only its own host, and what one of them lacks.
        let (name, near) = (fabric.name, fabric.ways[0]);
        refused(
            &format!("synch1 -t {near} -H h1,h2"),
            REMOTE,
            near.split(':').next_back().unwrap(),
        );
        let library = fs::canonicalize(fabric.library().unwrap()).unwrap();
        bed.does(&format!("on h2 mount --bind /dev/null {}", library.display()));
        refused(&format!("floor -t {name} -H h1,h2"), REMOTE, "rank 1");
    }
    let folder = PathBuf::from(BINARY).parent().unwrap().to_owned();
    bed.does(&format!("hide h2 {}", folder.display()));
    refused("synch1 -H h1,h2", REMOTE, "h2");
    // Another build, and what is no bandgap.
    let first = fs::read_to_string(format!("/run/bandgap-{}/h2.first", bed.name)).unwrap();
    let there = format!("/proc/{}/root{BINARY}", first.trim());
    let mut other = fs::read(BINARY).unwrap();
    other.push(0);
    for bytes in [&other[..], b"echo hello", b"echo 'bandgap-agent {}'"] {
        // That of before may still run.
        let _ = fs::remove_file(&there);
        fs::write(&there, bytes).unwrap();
        fs::set_permissions(&there, fs::Permissions::from_mode(0o755)).unwrap();
        refused("synch1 -H h1,h2", REMOTE, "h2");
    }
    fs::remove_file(&there).unwrap();
    let before = copies();
    let copied = "BANDGAP synch1 -H h1,h2 --copy --time-budget 1s --no-save";
    bed.run(place, copied).measured();
    // Where programs may not run, or find no room, another directory is taken.
    for (number, option) in ["noexec", "size=100k"].into_iter().enumerate() {
        bed.does(&format!("on h2 mount -t tmpfs -o {option} tmpfs /tmp"));
        bed.run(place, copied).measured();
        bed.does(&format!("on h2 mount -t tmpfs -o {option} tmpfs {}", ["/mnt", "/root"][number]));
    }
    refused("synch1 -H h1,h2 --copy", REMOTE, "/root");
    assert_eq!(copies(), before);
}

/// Copies of the program that are left.
fn copies() -> usize {
    let entries = fs::read_dir("/tmp").into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("bandgap.")).count()
}

#[test]
fn a_signal_ends_the_wait_for_hosts() {
    let Some(bed) = &Bed::up(6, 2) else { return };
    let place = &Workdir::new();
    // An ssh that never greets.
    let ssh = place.file("ssh", "#!/bin/sh\nexec sleep 100\n");
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let silent = format!("BANDGAP synch1 -H h0,h1 --ssh-command {ssh} --out silent");
    let mut launcher = bed.on(place, &silent).spawn().unwrap();
    let waits = || bed.processes("h0", "sleep 100").len();
    wait("for an ssh that says nothing", || (waits() > 0).then_some(()));
    signal(bed.processes("h0", "bandgap synch1")[0], Signal::INT);
    let status = wait("for the launcher to end", || launcher.try_wait().unwrap());
    assert_eq!((status.code(), waits()), (Some(INTERRUPTED), 0));
    assert!(!place.path("silent").exists());
}

#[test]
fn adopted_from_launchers() {
    let Some(bed) = &Bed::up(3, 3) else { return };
    let place = &Workdir::new();
    let measure = "BANDGAP synch1 --time-budget 1s --json - -q";
    let taken = |line: &str, over: &str| {
        let run = bed.run(place, &format!("{line} {measure} -t {over}")).measured().json();
        let of = &run["setup"]["of"][0];
        let is_it = over.starts_with(of["transport"].as_str().unwrap());
        assert!(is_it && names(&of["placement"]["hosts"]) == ["h1", "h2"], "{line}: {of}");
        assert_eq!(place.names().iter().filter(|name| name.starts_with('.')).count(), 0);
    };
    let there = |program: &str| {
        let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
        let found = found.unwrap().status.success();
        if !found {
            skipped(format_args!("no {program}"));
        }
        found
    };
    if there("mpiexec.hydra") {
        taken("mpiexec.hydra -hosts h1,h2 -n 2", "tcp");
        let usual = bed.run(place, &format!("mpiexec.hydra -hosts h1,h2 -n 2 {measure}"));
        let of = &usual.measured().json()["setup"]["of"][0];
        let hosts = names(&of["placement"]["hosts"]);
        assert_eq!((&of["transport"], hosts), (&"mpi".into(), vec!["h1", "h2"]));
        let more = bed.run(place, &format!("mpiexec.hydra -hosts h1,h2 -n 2 {measure} -n 3"));
        assert_eq!(more.code, Some(REMOTE));
    }
    if there("mpirun.openmpi") {
        let root = "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
        taken(&format!("{root} mpirun.openmpi --bind-to none --host h1,h2 -n 2"), "tcp");
    }
    let has_both = there("mpiexec.hydra") && there("mpirun.openmpi");
    if there("slurmctld") && there("munged") {
        let slurm = bed.script(["slurm"]).output().unwrap();
        let conf = String::from_utf8(slurm.stdout).unwrap();
        let conf = conf.trim().strip_prefix("export ").unwrap();
        let mpich = "mpi --mpi-lib libmpich.so.12";
        let all = [("none", "tcp"), ("pmi2", "tcp"), ("pmi2", mpich), ("pmix", "mpi")];
        for (kind, over) in all.into_iter().filter(|(_, over)| *over == "tcp" || has_both) {
            let srun = format!("env {conf} srun --mpi={kind} -N 2 -n 2");
            let without = bed.run(place, &format!("{srun} true"));
            if without.stderr.contains("can not load PMIx library") {
                skipped(format_args!("Slurm finds no libpmix.so (libpmix-dev)"));
                continue;
            }
            taken(&srun, over);
        }
    }
}

/// A run that would go on for long, with its ranks at work on h1 and h2.
fn at_work(bed: &Bed, place: &Workdir, out: &str) -> Child {
    let long = format!(
        "BANDGAP comms1 -H h1,h2 --sizes 8,64 --time-budget 100s --precision 0.0001% --launches 1 \
         --deadline 2s --out {out}"
    );
    let long = long.split_whitespace().collect::<Vec<_>>().join(" ");
    let launcher = bed.on(place, &long).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let launcher = launcher.unwrap();
    wait("for ranks that have worked for a while", || {
        let ranks = bed.every_process(&["h1", "h2"], "bandgap rank");
        let used = |pid: &u32| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
            rest.split(' ').nth(11).and_then(|used| used.parse::<u64>().ok()).unwrap_or(0)
        };
        (ranks.len() == 2 && ranks.iter().all(|pid| used(pid) > 40)).then_some(())
    });
    launcher
}

#[test]
fn whatever_fails_nothing_hangs_and_nothing_is_left() {
    let Some(mut bed) = Bed::up(4, 3) else { return };
    let place = &Workdir::new();
    type Fault<'a> = (&'a str, &'a dyn Fn(&Bed, u32), &'a [Option<i32>], bool);
    let rank = |bed: &Bed| bed.processes("h2", "bandgap rank")[0];
    let faults: [Fault<'_>; 10] = [
        ("a rank is killed", &|bed, _| signal(rank(bed), Signal::KILL), &[Some(RANK)], true),
        (
            "a rank is stopped",
            &|bed, _| signal(rank(bed), Signal::STOP),
            &[Some(COMMUNICATION)],
            true,
        ),
        (
            "an agent is killed",
            &|bed, _| {
                bed.processes("h2", "bandgap agent").iter().for_each(|of| signal(*of, Signal::KILL))
            },
            &[Some(REMOTE), Some(RANK)],
            true,
        ),
        (
            "an agent is ended",
            &|bed, _| {
                bed.processes("h2", "bandgap agent").iter().for_each(|of| signal(*of, Signal::TERM))
            },
            &[Some(REMOTE)],
            true,
        ),
        (
            "ssh is killed",
            &|bed, _| {
                let ssh = bed.processes("h0", "ssh -T");
                signal(*ssh.last().unwrap(), Signal::KILL);
            },
            &[Some(REMOTE)],
            true,
        ),
        (
            "the launcher is interrupted",
            &|_, launcher| signal(launcher, Signal::INT),
            &[Some(INTERRUPTED)],
            true,
        ),
        ("the launcher is ended", &|_, of| signal(of, Signal::TERM), &[Some(INTERRUPTED)], true),
        ("the launcher is killed", &|_, of| signal(of, Signal::KILL), &[None, Some(137)], false),
        ("a host is cut off", &|bed, _| bed.does("cut h2"), &[Some(REMOTE)], true),
        ("a host is gone", &|bed, _| bed.does("kill h2"), &[Some(REMOTE)], true),
    ];
    let trials = std::env::var("BANDGAP_FAULTS").ok().and_then(|count| count.parse().ok());
    let trials = faults.into_iter().cycle().take(trials.unwrap_or(faults.len()));
    for (number, (fault, inject, codes, keeps)) in trials.enumerate() {
        let out = format!("fault{number}");
        let mut launcher = at_work(&bed, place, &out);
        inject(&bed, bed.processes("h0", "bandgap comms1")[0]);
        let status = wait(fault, || launcher.try_wait().unwrap());
        assert!(codes.contains(&status.code()), "{fault}: {status:?}");
        if fault == "a host is cut off" {
            // Nobody can tell it: it has to end by itself, with its ranks.
            wait(fault, || bed.processes("h2", "bandgap").is_empty().then_some(()));
            bed.does("heal h2");
        }
        wait(&format!("for nothing to be left: {fault}"), || {
            bed.every_process(&["h0", "h1", "h2"], "bandgap").is_empty().then_some(())
        });
        if keeps {
            let run = fs::read_to_string(place.path(&out).join("run.json")).unwrap();
            let run: Value = serde_json::from_str(&run).unwrap();
            assert!(run["conditions"][0]["batches"]["used"].as_u64() > Some(0), "{fault}");
            assert!(fault != "an agent is ended" || run["notes"].to_string().contains("SIGTERM"));
        }
        if fault == "a host is gone" {
            // A new one, before the old one is taken down.
            bed = Bed::up(5 + number as u32, 3).expect("one was made before");
        }
    }
}

/// Two processes that a user starts by hand take part in one run.
#[test]
fn processes_started_by_hand_join() {
    let place = Workdir::new();
    let secret = place.file("secret", "sixteen bytes at least, and these are more");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let process = |rank: &str, out: &str| {
        let mut command = place.command(BINARY);
        command
            .args(["synch1", "-t", "unix", "--time-budget", "1s", "--launches", "1", "--no-save"])
            .args(["--json", out])
            .env("BANDGAP_RANK", rank)
            .env("BANDGAP_SIZE", "2")
            .env("BANDGAP_JOIN", format!("127.0.0.1:{port}"))
            .env("BANDGAP_SECRET_FILE", &secret)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let [first, other] =
        [("0", "run.json"), ("1", "other.json")].map(|(rank, out)| process(rank, out));
    for child in [first, other] {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let run: Value = serde_json::from_slice(&fs::read(place.path("run.json")).unwrap()).unwrap();
    assert_eq!(
        (&run["conditions"][0]["transport"], &run["conditions"][0]["ranks"]),
        (&"unix".into(), &2.into())
    );
    // The other one has written nothing.
    assert!(!place.path("other.json").exists());
}

/// Of several processes that cannot meet, none measures alone; what needs no other process goes on.
#[test]
fn processes_that_cannot_meet_measure_nothing() {
    let place = Workdir::new();
    let refused = |variables: &str, missing: &str| {
        let tool = |command: &str| place.shell(&format!("env {variables} bandgap {command}"));
        let finished = tool("synch1 -t tcp --time-budget 200ms --no-save").ends(REMOTE);
        assert!(finished.stderr.contains(missing), "{finished:?}");
        tool("synch1 -t sim:paragon --no-save").ends(0);
    };
    refused("BANDGAP_RANK=0 BANDGAP_SIZE=2", "BANDGAP_JOIN");
    refused("PMI_RANK=0 PMI_SIZE=2 PALS_RANKID=0", "PALS");
    refused("PMIX_RANK=0", "PMIX_RANK");
    // The user hears it from each process that was started by hand, and of others from the first.
    let other = "env BANDGAP_RANK=1 BANDGAP_SIZE=2 bandgap synch1 -t tcp --no-save";
    assert!(place.shell(other).ends(REMOTE).stderr.contains("BANDGAP_JOIN"));
    let other = "env PMI_RANK=1 PMI_SIZE=2 bandgap synch1 -t tcp --no-save";
    assert_eq!(place.shell(other).ends(REMOTE).stderr, "");
    // A single one is nobody's.
    place
        .shell("env PMI_RANK=0 PMI_SIZE=1 bandgap synch1 -t tcp --time-budget 200ms --no-save")
        .ends(0);
}

#[test]
fn what_is_wrong_with_hosts_is_told_before_anything_runs() {
    let place = Workdir::new();
    let file = place.file("hosts", "a slots=2\nb cpu=3\n");
    for (args, code, said) in [
        (vec!["synch1", "-H", "a:x"], USAGE, "a"),
        (vec!["synch1", "-H", "a[3-1]"], USAGE, "3-1"),
        (vec!["synch1", "-H", "a,-oProxyCommand=x"], USAGE, "-oProxyCommand=x"),
        (vec!["synch1", "--hostfile", &file], 3, "line 2"),
        (vec!["synch1", "--hostfile", "nowhere"], 3, "nowhere"),
    ] {
        let finished = place.run(args).ends(code);
        assert!(finished.stderr.contains(said), "{finished:?}");
    }
}
