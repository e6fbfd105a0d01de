//! What is forbidden, limited or plain here: one core, a terminal that takes no colours, refused system calls, limits of
//! the process.

use crate::program::subject::{Finished, HOST, USAGE, Workdir, skipped};

/// What came of a shell's command line; `None`, and said, where one of the `tools` that set the situation up is missing
/// or may not.
fn tried(place: &Workdir, tools: &[&str], line: &str) -> Option<Finished> {
    let finished = place.shell(line);
    let failed =
        |tool: &&str| finished.stderr.lines().any(|said| said.contains(&format!("{tool}:")));
    if finished.code == Some(99) || tools.iter().any(failed) {
        skipped(format_args!("{line}: {}", finished.stderr));
        return None;
    }
    Some(finished)
}

/// The values of the note of this code in a run on standard output.
#[track_caller]
fn note(finished: &Finished, code: &str) -> serde_json::Value {
    let run: serde_json::Value = serde_json::from_str(&finished.stdout).unwrap();
    let notes = run["notes"].as_array().unwrap();
    let found = notes.iter().find(|note| note["code"] == code);
    found.unwrap_or_else(|| panic!("{notes:#?}"))["values"].clone()
}

#[test]
fn one_allowed_core() {
    let place = Workdir::new();
    let run = place.run(["topology", "--json", "-"]).ends(0).stdout;
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    let allowed = run["host"]["summary"]["allowed"].as_str().unwrap();
    let core = allowed.split(['-', ',']).next().unwrap();
    let on_it =
        |command: &str| tried(&place, &["taskset"], &format!("taskset -c {core} {command}"));
    let Some(topology) = on_it("bandgap topology") else { return };
    // No command that would be refused.
    assert!(!topology.ends(0).stdout.contains("--cores"));
    let run = on_it("bandgap comms1 --sizes 8 --time-budget 300ms --no-save --json -").unwrap();
    assert_eq!(note(&run.measured(), "oversubscribed")["processors"], 1.0);
}

#[test]
fn plain_terminals() {
    let place = Workdir::new();
    for (environment, escapes, ascii) in [
        ("TERM=xterm", true, false),
        ("TERM=dumb", false, false),
        ("-u TERM", false, false),
        ("TERM=xterm NO_COLOR=1", false, false),
        ("TERM=xterm LC_ALL=C", true, true),
        ("TERM=dumb LC_ALL=en_US.ISO-8859-1", false, true),
    ] {
        let line = "script -qec 'bandgap signature -t sim:paragon --no-save' /dev/null";
        let Some(finished) =
            tried(&place, &["script", "sh"], &format!("env -u CI {environment} {line}"))
        else {
            return;
        };
        let shown = finished.ends(0).stdout;
        assert_eq!((shown.contains('\x1b'), shown.is_ascii()), (escapes, ascii), "{environment}");
    }
}

/// Lets a system call fail with EPERM in what it starts: its number, and a command.
const FORBID: &str = "import ctypes, os, struct, sys
numbers = [int(n) for n in sys.argv[1].split(',')]
rows = [(0x20, 0, 0, 0)] + [(0x15, len(numbers) - i, 0, n) for i, n in enumerate(numbers)]
rows += [(6, 0, 0, 0x7fff0000), (6, 0, 0, 0x50001)]
program = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *row) for row in rows))
class Filter(ctypes.Structure): _fields_ = [('len', ctypes.c_ushort), ('rows', ctypes.c_void_p)]
libc = ctypes.CDLL(None)
filter = Filter(len(rows), ctypes.cast(program, ctypes.c_void_p))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(filter), 0, 0): sys.exit(99)
os.execvp(sys.argv[2], sys.argv[2:])
";

#[test]
#[cfg(target_arch = "x86_64")]
fn forbidden_system_calls() {
    let place = Workdir::new();
    let forbid = place.file("forbid.py", FORBID);
    let without = |calls: &str, command: &str| {
        let line = format!("python3 {forbid} {calls} bandgap {command} --no-save --json -");
        tried(&place, &["sh"], &line)
    };
    // process_vm_readv and process_vm_writev.
    let sizes = "comms1 --sizes 64KiB:128KiB --time-budget 500ms";
    let Some(run) = without("310,311", sizes) else { return };
    assert!(note(&run.measured(), "single_copy_refused")["reason"].is_string());
    // sched_setaffinity.
    let run = without("203", "pairs --time-budget 200ms").unwrap();
    assert!(note(&run.ends(HOST), "failed")["what"].is_string());
    // What a rank begins with: prctl and recvmsg.
    for (call, name) in [("157", "PR_SET_PDEATHSIG"), ("47", "recvmsg")] {
        let said = without(call, "comms1 --time-budget 200ms").unwrap().ends(HOST).stderr;
        assert!(said.contains(name), "{said}");
    }
    let allowed = place.run(format!("{sizes} --no-save --json -").split(' ')).measured();
    assert!(!allowed.stdout.contains("single_copy_refused"));
}

#[test]
fn a_limit_of_addresses() {
    let place = Workdir::new();
    let limited = |command: &str| {
        place
            .shell(&format!("ulimit -v 200000; bandgap {command} --time-budget 300ms --no-save -q"))
    };
    limited("comms1 --sizes 64MiB:256MiB").ends(USAGE);
    limited("pairs").measured();
}

#[test]
fn a_limit_of_the_stack() {
    Workdir::new().shell("ulimit -s 64; bandgap --version").ends(HOST);
}

#[test]
fn a_limit_of_processes() {
    let place = Workdir::new();
    // A user without other processes, who may not have more than are allowed.
    let user = "setpriv --reuid=54321 --regid=65534 --clear-groups";
    for (most, code) in [(1, USAGE), (2, USAGE), (3, USAGE), (4, 0)] {
        let command = "bandgap pairs --time-budget 200ms --no-save -q";
        let line = format!("prlimit --nproc={most}:{most} {user} {command}");
        let Some(finished) = tried(&place, &["prlimit", "setpriv"], &line) else { return };
        if code == 0 {
            finished.measured()
        } else {
            finished.ends(code)
        };
    }
}
