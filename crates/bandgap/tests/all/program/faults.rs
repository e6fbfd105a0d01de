//! Whatever is killed, stopped or interrupted: the run ends, says why, keeps what it has, and
//! leaves nothing behind.

use std::process::Command;

use bandgap_results::{Outcome, Run};
use rustix::process::{Pid, Resource, Rlimit, Signal, getuid, kill_process, prlimit};

use crate::program::residue::Watched;
use crate::program::subject::{BINARY, Finished, Place, measuring};

/// A run that would go on for long: it can never be as precise as asked.
fn long(place: &Place, transport: &str, more: &[&'static str]) -> Vec<String> {
    let out = place.path("run");
    let fixed =
        ["signature", "--time-budget", "100s", "--precision", "1e-9", "-t", transport, "--out"];
    let fixed = fixed.into_iter().chain(out.to_str());
    fixed.chain(more.iter().copied()).map(str::to_owned).collect()
}

pub fn start<'a>(place: &'a Place, transport: &str, more: &[&'static str]) -> Watched<'a> {
    let args = long(place, transport, more);
    let ranks = if more.contains(&"4") { 4 } else { 2 };
    Watched::start(place, ranks, &args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The run as it was kept: marked as interrupted, and if anything is in it, it can be used.
#[track_caller]
pub fn kept(place: &Place) -> Run {
    assert_eq!(place.names(), ["run"]);
    let run: Run = bandgap_record::read(&place.path("run")).unwrap();
    assert!(run.interrupted);
    for result in &run.results {
        let Outcome::Logp(logp) = result else { continue };
        assert!(!logp.points.is_empty() && logp.parameters.rtt.is_some());
        // Where several transports were to come, each file names its own.
        let kept = |name: &str, end: &str| {
            let own = format!("run/{name}-{}.{end}", logp.transport);
            place.path(&format!("run/{name}.{end}")).exists() || place.path(&own).exists()
        };
        assert!(kept("samples", "csv") && kept("signature", "svg"));
    }
    run
}

/// Kills `rank` once rank 0 has worked for some hundredths of a second.
fn kill(transport: &str, rank: usize, hundredths: u64, more: &[&'static str]) -> Run {
    let place = Place::new();
    let mut run = start(&place, transport, more);
    let ranks = run.ranks_after(hundredths);
    kill_process(ranks[rank], Signal::KILL).unwrap();
    let finished = run.ended().ends(5);
    for word in [format!("rank {rank}:"), ranks[rank].to_string(), "SIGKILL".to_owned()] {
        assert!(finished.stderr.contains(&word), "{word}: {}", finished.stderr);
    }
    kept(&place)
}

#[test]
fn a_killed_rank_of_shm_is_named() {
    let _alone = measuring();
    for (rank, hundredths) in [(0, 0), (1, 1), (0, 7), (1, 33)] {
        kill("shm", rank, hundredths, &[]);
    }
}

#[test]
fn a_killed_rank_of_tcp_is_named() {
    let _alone = measuring();
    for (rank, hundredths) in [(1, 0), (0, 2), (1, 11), (0, 40)] {
        kill("tcp", rank, hundredths, &[]);
    }
}

#[test]
fn a_killed_rank_of_unix_is_named() {
    let _alone = measuring();
    for (rank, hundredths) in [(0, 0), (1, 3), (0, 13), (1, 28)] {
        kill("unix", rank, hundredths, &[]);
    }
}

#[test]
fn a_killed_rank_of_udp_is_named() {
    let _alone = measuring();
    for (rank, hundredths) in [(0, 0), (1, 3), (0, 13), (1, 28)] {
        kill("udp", rank, hundredths, &[]);
    }
}

#[test]
fn a_killed_rank_among_many_or_asleep_is_named() {
    let _alone = measuring();
    kill("shm", 3, 5, &["-n", "4"]);
    kill("tcp", 2, 5, &["-n", "4"]);
    kill("tcp", 1, 5, &["--wait", "block"]);
    kill("unix", 0, 5, &["--wait", "block"]);
    kill("udp", 1, 5, &["-n", "4", "--wait", "block"]);
}

#[test]
fn a_killed_rank_is_named_whoever_ignores_the_ends_of_processes() {
    let _alone = measuring();
    let place = Place::new();
    let ignoring = ["-c", "trap '' CHLD; exec \"$0\" \"$@\"", BINARY].map(str::to_owned);
    let args: Vec<String> = ignoring.into_iter().chain(long(&place, "shm", &[])).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut run = Watched::start_program(&place, "sh", 2, &args);
    kill_process(run.ranks_after(5)[1], Signal::KILL).unwrap();
    let finished = run.ended().ends(5);
    assert!(finished.stderr.contains("rank 1:"), "{}", finished.stderr);
    assert!(finished.stderr.contains("SIGKILL"), "{}", finished.stderr);
    kept(&place);
}

#[test]
fn quiet_runs_name_a_killed_rank_too() {
    let _alone = measuring();
    kill("shm", 1, 3, &["--quiet"]);
}

#[test]
fn what_was_measured_before_a_death_is_kept() {
    let _alone = measuring();
    // Three seconds of processor time are many rounds over all points, which take a tenth of one; unless
    // others use the processors so much that the ranks wait for a calmer moment.
    let is_whole = |run: &Run| {
        assert!(run.warnings.iter().any(|warning| warning.contains("SIGKILL")));
        matches!(run.results[..], [Outcome::Logp(_), Outcome::Verification(_)])
    };
    assert!([300, 1200, 4800].iter().any(|&hundredths| is_whole(&kill("shm", 1, hundredths, &[]))));
}

#[test]
fn a_killed_rank_of_the_floors_is_named() {
    let _alone = measuring();
    let place = Place::new();
    // All of them: some alone are measured before the ranks have been seen.
    let args = ["floor", "--time-budget", "100s", "--precision", "1e-9", "--out", "run"];
    let mut run = Watched::start(&place, 2, &args);
    let ranks = run.ranks_after(5);
    kill_process(ranks[1], Signal::KILL).unwrap();
    let finished = run.ended().ends(5);
    assert!(finished.stderr.contains("rank 1: its process"), "{}", finished.stderr);
    assert!(finished.stderr.contains("SIGKILL"), "{}", finished.stderr);
    kept(&place);
}

#[test]
fn a_killed_rank_of_the_doctor_is_named() {
    let _alone = measuring();
    let place = Place::new();
    let mut run = Watched::start(&place, 2, &["doctor", "--out", "run"]);
    let ranks = run.ranks_after(5);
    kill_process(ranks[1], Signal::KILL).unwrap();
    let finished = run.ended().ends(5);
    assert!(finished.stderr.contains("rank 1: its process"), "{}", finished.stderr);
    assert!(kept(&place).interrupted);
}

/// A second place that does not take the run is less than a rank that died.
#[test]
fn a_death_is_told_by_the_code_of_a_run_that_cannot_be_written_twice() {
    let _alone = measuring();
    let place = Place::new();
    let mut run = start(&place, "shm", &["--json", "/dev/full"]);
    let ranks = run.ranks_after(30);
    kill_process(ranks[1], Signal::KILL).unwrap();
    let finished = run.ended().ends(5);
    for words in ["rank 1: its process", "write /dev/full"] {
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    kept(&place);
}

#[test]
fn ranks_die_with_their_launcher() {
    let _alone = measuring();
    for (transport, hundredths) in [("shm", 0), ("shm", 20), ("tcp", 9), ("unix", 5)] {
        let place = Place::new();
        let mut run = start(&place, transport, &[]);
        run.ranks_after(hundredths);
        run.signal(Signal::KILL);
        assert_eq!(run.ended().code, None);
    }
}

/// Stops ranks once rank 0 has worked for some hundredths of a second: they are alive but do nothing. The run is given
/// up at the deadline, and they are named.
fn stop(transport: &str, stopped: &[usize], hundredths: u64, more: &[&'static str]) -> Finished {
    let place = Place::new();
    let more: Vec<&str> = more.iter().chain(&["--deadline", "1s"]).copied().collect();
    let mut run = start(&place, transport, &more);
    let ranks = run.ranks_after(hundredths);
    for rank in stopped {
        kill_process(ranks[*rank], Signal::STOP).unwrap();
    }
    let finished = run.ended().ends(6);
    let said = format!("rank {}: its process {} is stopped", stopped[0], ranks[stopped[0]]);
    assert!(finished.stderr.contains(&said), "{said}: {}", finished.stderr);
    // The launcher gives up and advises a longer one, or a rank that connects gives up a moment before.
    assert!(finished.stderr.contains("deadline"), "{}", finished.stderr);
    for rank in stopped {
        assert!(
            rustix::process::test_kill_process(ranks[*rank]).is_err() || is_other(ranks[*rank])
        );
    }
    kept(&place);
    finished
}

/// Whether a process number that is in use again belongs to something else.
fn is_other(pid: Pid) -> bool {
    let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    !line.contains("bandgap")
}

#[test]
fn a_stopped_rank_is_given_up_at_the_deadline() {
    let _alone = measuring();
    for (transport, rank, more) in
        [("shm", 1, &[][..]), ("tcp", 0, &[]), ("unix", 1, &["--wait", "block"]), ("udp", 1, &[])]
    {
        stop(transport, &[rank], 10, more);
    }
}

#[test]
fn ranks_that_are_all_stopped_are_given_up_at_the_deadline() {
    let _alone = measuring();
    for (transport, hundredths) in [("shm", 10), ("tcp", 3)] {
        let finished = stop(transport, &[0, 1], hundredths, &[]);
        assert!(finished.stderr.contains("and so is rank 1; nothing came for 1s"), "{finished:?}");
    }
    let finished = stop("unix", &[0, 1, 2, 3], 5, &["-n", "4"]);
    assert!(finished.stderr.contains("and so are ranks 1, 2 and 3"), "{}", finished.stderr);
}

#[test]
fn ranks_that_are_stopped_before_they_are_connected_are_given_up_too() {
    let _alone = measuring();
    for transport in ["shm", "tcp", "udp"] {
        stop(transport, &[1], 0, &[]);
    }
}

#[test]
fn a_program_that_is_replaced_while_it_runs_goes_on_as_it_was() {
    let _alone = measuring();
    let place = Place::new();
    let program = place.path("program");
    std::fs::copy(BINARY, &program).unwrap();
    let args = ["signature", "--launches", "3", "--time-budget", "300ms", "--out", "run"];
    let mut run = Watched::start_program(&place, program.to_str().unwrap(), 2, &args);
    run.ranks_after(0);
    // Whoever starts this is told that it is no program.
    std::fs::write(place.path("next"), "another build").unwrap();
    std::fs::rename(place.path("next"), &program).unwrap();
    run.ended().measured();
}

/// Nothing else belongs to this user. The limit of processes does not hold for root.
const NOBODY: u32 = 61_007;

/// A launcher that may start no thread any more cannot look at the noise of its cores.
#[test]
fn a_thread_that_cannot_be_started_loses_nothing_that_was_measured() {
    let _alone = measuring();
    let place = Place::new();
    let user = NOBODY.to_string();
    let (program, becoming) = match getuid().is_root() {
        true => (place.give_to(NOBODY), "setpriv --clear-groups --reuid USER --regid USER"),
        false => (BINARY.to_owned(), "env"),
    };
    let becoming = becoming.replace("USER", &user);
    let (first, rest) = becoming.split_once(' ').unwrap_or((&becoming, ""));
    let measure = [&*program, "signature", "--time-budget", "2s", "--out", "run"];
    let args: Vec<&str> = rest.split_whitespace().chain(measure).collect();
    let mut run = Watched::start_program(&place, first, 2, &args);
    run.ranks_after(10);
    let (launcher, fewest) = (run.pid().to_string(), ["prlimit", "--nproc=1:1", "--pid"]);
    let mut limit = Command::new(first);
    limit.args(rest.split_whitespace()).args(fewest).arg(launcher);
    assert!(limit.status().unwrap().success());
    run.ended().measured();
    let run: Run = bandgap_record::read(&place.path("run")).unwrap();
    assert!(!run.results.is_empty() && !run.interrupted);
    assert_eq!(run.host["noise"], serde_json::json!([]));
}

/// The noise of the cores comes before the ranks, which are refused.
#[test]
fn ranks_of_the_doctor_that_cannot_be_started_lose_nothing_of_its_noise() {
    let _alone = measuring();
    let place = Place::new();
    let finished = place.shell("ulimit -n 40; bandgap doctor --out run").ends(7);
    assert!(finished.stderr.contains("raise `ulimit -n`"), "{}", finished.stderr);
    assert!(finished.stdout.contains("noise"), "{}", finished.stdout);
    let run = kept(&place);
    let [Outcome::Noise(noise)] = &run.results[..] else { panic!("{:?}", run.results) };
    assert!(!noise.cores.is_empty());
}

/// The second launch cannot be started any more, since the launcher may have no further descriptor.
#[test]
fn a_launch_that_cannot_be_started_loses_nothing_of_the_earlier_one() {
    let _alone = measuring();
    let place = Place::new();
    let args = ["signature", "--launches", "2", "--time-budget", "2s", "--out", "run"];
    let mut run = Watched::start(&place, 2, &args);
    run.ranks_after(10);
    let few = Rlimit { current: Some(10), maximum: Some(10) };
    prlimit(Some(run.pid()), Resource::Nofile, few).unwrap();
    let finished = run.ended().ends(7);
    for words in ["launch 2 of the ranks failed to", "raise `ulimit -n`"] {
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    assert!(!kept(&place).results.is_empty());
}
