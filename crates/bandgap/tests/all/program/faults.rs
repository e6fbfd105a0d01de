//! Whatever is killed, stopped or interrupted: the run ends with its code, keeps what it has, and leaves nothing behind.

use std::fs;
use std::io::{PipeReader, pipe};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use bandgap_launch::Collected;
use bandgap_results::Run;
use bandgap_soak::processes::Process;
use rustix::pipe::fcntl_setpipe_size;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::program::subject::{BINARY, Workdir, skipped, wait};

/// A run that would go on for long: it can never be as precise as asked.
const LONG: &str = "signature --time-budget 100s --precision 1e-9 --out run";

/// A run under way. Nothing of it is left when this goes.
struct Watched<'a> {
    place: &'a Workdir,
    launcher: Child,
    mark: String,
}

impl<'a> Watched<'a> {
    fn start(place: &'a Workdir, command: &str) -> Self {
        let mut program = place.command(BINARY);
        program.args(command.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
        Self::of(place, program)
    }

    fn of(place: &'a Workdir, mut program: Command) -> Self {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
        program.env("BANDGAP_TEST_RUN", &mark).stdin(Stdio::null());
        let launcher = program.spawn().unwrap();
        Self { place, launcher, mark: format!("BANDGAP_TEST_RUN={mark}") }
    }

    /// Waits until there are so many ranks, and rank 0 has used the processor for some hundredths of a second.
    fn ranks_after(&mut self, count: usize, hundredths: u64) -> Vec<Pid> {
        let ranks = wait("for the ranks to be at work", || {
            assert_eq!(self.launcher.try_wait().unwrap(), None, "the launcher ended too early");
            let ranks = Process::ranks_of(self.launcher.id());
            let at_work = ranks.first().is_some_and(|leader| leader.used >= hundredths);
            (ranks.len() == count && at_work).then_some(ranks)
        });
        ranks.iter().map(|rank| Pid::from_raw(rank.pid.cast_signed()).unwrap()).collect()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.launcher), signal).unwrap();
    }

    /// The exit code, once nothing of the run is left.
    fn ends(mut self) -> Option<i32> {
        let status = wait("for the launcher to end", || self.launcher.try_wait().unwrap());
        // Ranks may outlive a killed launcher by a moment.
        wait("for the run's processes to be gone", || {
            Process::all().all(|process| !process.carries(&self.mark)).then_some(())
        });
        let shared = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
        let mut shared = shared.map(|entry| entry.file_name().into_string().unwrap());
        assert_eq!(shared.find(|name| name.contains("bandgap")), None);
        assert_eq!(self.place.temporary(), Vec::<String>::new());
        status.code()
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        // A test that failed must not leave a run behind; one that has ended is no error.
        let _ = self.launcher.kill();
        let _ = self.launcher.wait();
    }
}

/// The run as it was kept: marked as interrupted.
#[track_caller]
fn kept(place: &Workdir) -> Run {
    assert_eq!(place.names(), ["run"]);
    let run: Run = bandgap_record::read(&place.path("run")).unwrap();
    assert!(run.interrupted);
    run
}

#[test]
fn a_killed_rank_ends_the_run() {
    for (over, ranks, killed, hundredths) in [
        ("-t shm", 2, 1, 0),
        ("-t shm -n 4", 4, 0, 20),
        ("-t tcp --wait block", 2, 1, 5),
        ("-t unix", 2, 0, 10),
        ("-t tcp -n 4", 4, 2, 2),
    ] {
        let place = Workdir::new();
        let mut run = Watched::start(&place, &format!("{LONG} {over}"));
        kill_process(run.ranks_after(ranks, hundredths)[killed], Signal::KILL).unwrap();
        assert_eq!(run.ends(), Some(5), "{over}");
        kept(&place);
    }
}

/// As where a shell has `trap '' CHLD`.
#[test]
fn a_killed_rank_ends_the_run_of_who_ignores_the_ends_of_processes() {
    let place = Workdir::new();
    let mut shell = place.command("sh");
    shell.args(["-c", &format!("trap '' CHLD; exec {BINARY} {LONG}")]).stdout(Stdio::null());
    let mut run = Watched::of(&place, shell);
    kill_process(run.ranks_after(2, 5)[1], Signal::KILL).unwrap();
    assert_eq!(run.ends(), Some(5));
}

/// Batches are on disk while a run goes on: whoever is killed, `show` makes a run of them, once.
#[test]
fn a_killed_run_is_shown_from_its_journal() {
    let layers =
        "layers echo -t shm,unix --launches 2 --time-budget 30s --precision 1e-9 --out run";
    for (command, parts) in [
        (format!("{LONG} -t shm"), 1),
        (format!("{LONG} -t tcp --launches 1 --json run.json"), 1),
        // Its parts take turns: of two launches three are not over.
        (layers.to_owned(), 2),
    ] {
        let place = Workdir::new();
        let run = Watched::start(&place, &command);
        let journal = place.path("run/journal.jsonl");
        let text = || fs::read_to_string(&journal).unwrap_or_default();
        // A signature needs round trips, which come last in a round.
        let trips = if command.starts_with(LONG) { 2 } else { 0 };
        wait("for batches", || {
            let text = text();
            let has_trips = text.matches(r#""what":"rtt""#).count() >= trips;
            let by_part: Vec<_> = text.split("\n{\"ended\"").collect();
            let last = by_part[by_part.len() - 1].matches("\n{\"kept\"").count();
            (by_part.len() >= parts && last > 4 && has_trips).then_some(())
        });
        // Both are the run's own: nobody else writes there.
        let other = "comms1 --time-budget 1s";
        place.run(format!("{other} --out run").split(' ')).ends(4);
        place.run(["show", "run"]).ends(4);
        if command.contains("--json") {
            place.run(format!("{other} --no-save --json run.json").split(' ')).ends(4);
        }
        run.signal(Signal::KILL);
        assert_eq!(run.ends(), None);
        let lost = place.run(format!("{other} --out run").split(' ')).ends(4);
        assert!(lost.stderr.contains("bandgap show run"), "{}", lost.stderr);
        // A line that was being written counts for nothing.
        fs::write(&journal, text() + "{\"kept\":[{\"ba").unwrap();
        let shown = place.run(["show", "run"]).ends(0).stdout;
        assert_eq!(shown, place.run(["show", "run"]).ends(0).stdout);
        let kept = kept(&place);
        assert_eq!(kept.command[1], command.split(' ').next().unwrap());
        assert!(kept.conditions.len() >= parts && !kept.results.is_empty(), "{command}");
        assert!(!journal.exists());
    }
}

/// A directory may come from anybody: what is in it is data.
#[test]
fn a_journal_makes_the_program_do_nothing_but_results() {
    let place = Workdir::new();
    fs::create_dir(place.path("run")).unwrap();
    let head = |command: [&str; 4]| {
        let head = json!({"command": command, "started": "2026-01-01T00:00:00Z", "machine": {}, "host": null,
            "hosts": [], "stamp": 0.0, "adopted": null, "native": null});
        let part = serde_json::to_value(Collected::default()).unwrap();
        json!({ "begun": [head, part] }).to_string() + "\n"
    };
    let evil = "sh -c touch${IFS}evil";
    for text in [
        "{\"ended\"".to_owned(),
        "\0\0\0\n".to_owned(),
        head(["bandgap", "topology", "-Hh9", &format!("--ssh-command={evil}")]),
        head(["bandgap", "doctor", "-Hh9", &format!("--ssh-command={evil}")]),
        head(["bandgap", "export", "run", "--to=csv"]),
        head(["bandgap", "comms1", "-Hh9", &format!("--ssh-command={evil}")]),
    ] {
        place.file("run/journal.jsonl", &text);
        let shown = place.run(["show", "run"]);
        assert_eq!((shown.code, place.names()), (Some(3), vec!["run".to_owned()]), "{text}");
    }
}

#[test]
fn stopped_ranks_are_given_up_at_the_deadline() {
    for (over, stopped) in [("-t shm", &[1][..]), ("-t unix --wait block", &[0, 1])] {
        let place = Workdir::new();
        let mut run = Watched::start(&place, &format!("{LONG} {over} --deadline 1s"));
        let ranks = run.ranks_after(2, 5);
        stopped.iter().for_each(|rank| kill_process(ranks[*rank], Signal::STOP).unwrap());
        assert_eq!(run.ends(), Some(6), "{over}");
        kept(&place);
    }
}

#[test]
fn ranks_die_with_their_launcher() {
    let place = Workdir::new();
    let mut run = Watched::start(&place, LONG);
    run.ranks_after(2, 5);
    run.signal(Signal::KILL);
    assert_eq!(run.ends(), None);
}

#[test]
fn a_signal_ends_real_ranks_in_order() {
    let place = Workdir::new();
    let mut run = Watched::start(&place, LONG);
    run.ranks_after(2, 10);
    run.signal(Signal::TERM);
    assert_eq!(run.ends(), Some(130));
    kept(&place);
}

#[test]
fn a_run_that_is_halted_halts_its_ranks_and_goes_on_with_them() {
    let place = Workdir::new();
    let mut run = Watched::start(&place, LONG);
    let mut all = run.ranks_after(2, 5);
    all.push(Pid::from_child(&run.launcher));
    let are_stopped = |stopped: bool| {
        wait("for processes to be stopped, or to go on", || {
            let mut processes =
                all.iter().map(|pid| Process::read(pid.as_raw_nonzero().get().cast_unsigned()));
            processes.all(|process| process.is_some_and(|it| it.stopped == stopped)).then_some(())
        });
    };
    run.signal(Signal::TSTP);
    are_stopped(true);
    run.signal(Signal::CONT);
    are_stopped(false);
    run.signal(Signal::INT);
    assert_eq!(run.ends(), Some(130));
}

/// A simulation that would take minutes: a hundred requesters with thousands of messages each.
fn simulation(place: &Workdir) -> String {
    let machine = place.file(
        "machine.toml",
        "name = \"slow to simulate\"\nsend_overhead_ns = 1\nrecv_overhead_ns = 1\ngap_ns = 1\n\
         latency_ns = 1000000\ncapacity = 4096\n",
    );
    format!("signature -t sim:{machine} --fan-in 100 --out run")
}

impl Watched<'_> {
    /// Waits until the launcher has used the processor for some time: it takes signals then.
    fn is_at_work(&self) {
        wait("for the launcher to be at work", || {
            Process::read(self.launcher.id()).filter(|launcher| launcher.used >= 20)
        });
    }
}

#[test]
fn a_replay_that_is_interrupted_keeps_what_is_done() {
    let place = Workdir::new();
    let machine = place.file(
        "machine.toml",
        "name = \"m\"\nsend_overhead_ns = 1\nrecv_overhead_ns = 1\ngap_ns = 1\nlatency_ns = 10\n\
         gap_per_byte_ns = 1\n",
    );
    // A moment, and then long: 2³³ messages.
    let what = "--sizes 8 --algorithm ring --out run";
    let command = format!("simulate all_reduce -t sim:{machine} -n 2,65536 {what}");
    let run = Watched::start(&place, &command);
    let read = || -> Option<Run> { bandgap_record::read(&place.path("run")).ok() };
    wait("for the first to be kept", read);
    run.signal(Signal::INT);
    assert_eq!(run.ends(), Some(130));
    let kept: Run = bandgap_record::read(&place.path("run")).unwrap();
    assert!(kept.interrupted);
    assert_eq!(kept.results.len(), 1);
}

/// Those of a terminal, and those with which batch systems warn of the end.
#[test]
fn every_signal_that_asks_to_end_does_so_in_order() {
    for signal in [Signal::INT, Signal::QUIT, Signal::USR1, Signal::USR2, Signal::XCPU] {
        let place = Workdir::new();
        let run = Watched::start(&place, &simulation(&place));
        run.is_at_work();
        run.signal(signal);
        assert_eq!(run.ends(), Some(130), "{signal:?}");
        let kept: Run = bandgap_record::read(&place.path("run")).unwrap();
        assert!(kept.interrupted);
    }
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let place = Workdir::new();
    let mut shell = place.command("sh");
    shell.args(["-c", &format!("trap '' HUP; exec {BINARY} {}", simulation(&place))]);
    let run = Watched::of(&place, shell);
    run.is_at_work();
    run.signal(Signal::HUP);
    let used = Process::read(run.launcher.id()).unwrap().used;
    wait("for the launcher to go on", || {
        Process::read(run.launcher.id()).filter(|it| it.used > used + 5)
    });
    run.signal(Signal::TERM);
    assert_eq!(run.ends(), Some(130));
}

/// This prints more than the smallest pipe takes.
const MUCH: &str = "comms1 -t sim:ipsc860 --out run -v";

/// A run that has kept everything, and cannot go on printing it or what was done, as nobody reads that.
fn unread(place: &Workdir, error: bool) -> (Watched<'_>, PipeReader) {
    let (reader, mut full) = pipe().unwrap();
    fcntl_setpipe_size(&full, 4096).unwrap();
    let mut program = place.command(BINARY);
    program.args(MUCH.split(' '));
    if error {
        std::io::Write::write_all(&mut full, &[b'-'; 4096]).unwrap();
        program.stdout(Stdio::null()).stderr(full);
    } else {
        program.stdout(full).stderr(Stdio::null());
    }
    let run = Watched::of(place, program);
    let results = || bandgap_record::read(&place.path("run")).ok().map(|run: Run| run.results);
    wait("for results to be kept", || results().filter(|results| !results.is_empty()));
    (run, reader)
}

#[test]
fn a_second_signal_ends_a_program_that_cannot_go_on() {
    for error in [false, true] {
        let place = Workdir::new();
        let (mut run, _reader) = unread(&place, error);
        wait("for the launcher to end", || {
            run.signal(Signal::INT);
            run.launcher.try_wait().unwrap()
        });
        assert_eq!(run.ends(), Some(130));
    }
}

#[test]
fn a_signal_is_not_forgotten_once_everything_is_measured() {
    let place = Workdir::new();
    let (run, mut reader) = unread(&place, false);
    run.signal(Signal::INT);
    std::io::copy(&mut reader, &mut std::io::sink()).unwrap();
    assert_eq!(run.ends(), Some(130));
    // What is there is whole.
    let kept: Run = bandgap_record::read(&place.path("run")).unwrap();
    let all = Workdir::new();
    all.run(MUCH.split(' ')).ends(0);
    let whole: Run = bandgap_record::read(&all.path("run")).unwrap();
    assert_eq!((kept.results, kept.interrupted), (whole.results, false));
}

#[test]
fn a_schedule_that_is_not_there_yet_is_not_waited_for_after_a_signal() {
    let place = Workdir::new();
    if place.shell("mkfifo late.goal").code != Some(0) {
        skipped(format_args!("there is no mkfifo here"));
        return;
    }
    let run = Watched::start(&place, "simulate late.goal --out run");
    wait("for signals to be taken", || place.path("run").exists().then_some(()));
    run.signal(Signal::INT);
    assert_eq!(run.ends(), Some(130));
}
