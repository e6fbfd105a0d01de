use std::io::Read;

use rustix::io::Errno;

use super::*;
use crate::CycleClock;

const EVENTS: [&str; 3] =
    ["syscalls:sys_enter_sendto", "syscalls:sys_exit_sendto", "nothing:like_this"];

/// A trace, or the reason why this machine has none.
fn trace(what: &str) -> Option<KernelTrace> {
    let clock = CycleClock::calibrate().report();
    let cpus = crate::allowed_cpus().unwrap();
    match KernelTrace::open(&EVENTS, &cpus[..1], &clock) {
        Ok(trace) => Some(trace),
        Err(error) => {
            assert!(matches!(error, HostError::Untraceable { .. }), "{error}");
            eprintln!("SKIPPED: {what}: {error}");
            None
        }
    }
}

/// Sends something to nobody.
fn send() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(b"word", socket.local_addr().unwrap()).unwrap();
}

#[test]
fn what_a_process_does_is_traced_while_it_is_on_and_nothing_stays() {
    let Some(trace) = trace("what_a_process_does_is_traced_while_it_is_on_and_nothing_stays")
    else {
        return;
    };
    assert_eq!(trace.events(), &EVENTS[..2]);
    trace.switch().join().unwrap();
    let own = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
    assert_eq!(trace.threads().unwrap(), [own]);
    send();
    trace.switch().on().unwrap();
    send();
    std::thread::scope(|scope| scope.spawn(send).join().unwrap());
    trace.switch().off().unwrap();
    send();
    let mut text = String::new();
    trace.text().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text.matches(BATCH).count(), 1, "{text}");
    // Once: neither before nor after, nor what another thread does.
    assert_eq!(text.matches("sys_sendto(").count(), 1, "{text}");
    assert_eq!(text.matches("sys_sendto -> 0x4").count(), 1, "{text}");
    let enabled = read(&trace.switch().folder.join("events/enable")).unwrap();
    assert_eq!(enabled.trim(), "0");
    // Another one neither takes nor removes it.
    let folder = trace.switch().folder.clone();
    let clock = CycleClock::calibrate().report();
    let other = KernelTrace::open(&EVENTS, &[], &clock).unwrap();
    assert!(folder.join("trace").exists());
    assert_ne!(other.switch().folder, folder);
    // One that nobody holds is removed by the next.
    let left = folder.with_file_name(format!("{OURS}left"));
    fs::create_dir(&left).unwrap();
    drop(KernelTrace::open(&EVENTS, &[], &clock).unwrap());
    assert!(!left.exists());
    let instances = other.switch().folder.parent().unwrap().to_owned();
    let named = |folder: &Path| folder.file_name().unwrap().to_owned();
    let names = [named(&folder), named(&other.switch().folder)];
    drop(trace);
    let left = fs::read_dir(&instances).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.collect();
    assert!(!left.contains(&names[0]) && left.contains(&names[1]), "{left:?}");
}

#[test]
fn why_it_cannot_be_used_is_said_with_what_to_do() {
    for (is_root, error, problem, advice) in [
        (false, Errno::PERM, "only root may", "as root"),
        (true, Errno::PERM, "is not mounted", "mount -t tracefs tracefs /sys/kernel/tracing"),
        (true, Errno::NOSYS, "is not mounted", "unshare --mount"),
        (false, Errno::NODEV, "has no tracefs", "CONFIG_FTRACE"),
    ] {
        let HostError::Untraceable { problem: why, advice: what } =
            tracefs::unmounted(is_root, error)
        else {
            panic!("{error}")
        };
        assert!(why.contains(problem) && what.contains(advice), "{why}; {what}");
    }
}

#[test]
fn a_trace_that_the_kernel_refuses_is_an_error_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let switch = Switch { folder: folder.path().to_owned(), events: vec!["a:b".to_owned()] };
    for refused in [switch.join(), switch.on(), switch.off()] {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains(&*folder.path().to_string_lossy()), "{text}");
    }
    // Where there are files already, the kernel has not made them.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
