use std::fmt::Write;

use bandgap_model::kernel_path::{Messages, Side, path};

use super::*;

const TICK: Option<f64> = Some(0.5);

/// A message over tcp as a kernel wrote it, in ticks of half a nanosecond, with fields cut short.
const TCP: &str = "\
# tracer: nop
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
         bandgap-2961    [000] ..... 158169874600000: tracing_mark_write: bandgap batch
         bandgap-2962    [001] ..... 158169874677048: sys_sendto(fd: 8, buff: 0x7ffcb1022c90, len: 0x10, flags: 0x4000, addr: 0, addr_len: 0)
         bandgap-2961    [000] ..... 158169874677855: sys_recvfrom -> 0xfffffffffffffff5
         bandgap-2962    [001] ..... 158169874679440: tcp_sendmsg_locked: skb_addr 0000000000000000 skb_len 0 msg_left 16 size_goal 32768
         bandgap-2962    [001] b.... 158169874683496: net_dev_queue: dev=lo skbaddr=000000005fa76cf8 len=82
         bandgap-2962    [001] b.... 158169874685654: netif_rx: dev=lo skbaddr=000000005fa76cf8 len=68
         bandgap-2962    [001] ..s1. 158169874687032: softirq_entry: vec=3 [action=NET_RX]
         bandgap-2962    [001] ..s1. 158169874689476: netif_receive_skb: dev=lo skbaddr=000000005fa76cf8 len=68
         bandgap-2962    [001] ..s2. 158169874691088: tcp_probe: family=AF_INET src=127.0.0.1:40465 dest=127.0.0.1:57402 mark=0x0
         bandgap-2961    [000] ..... 158169874692441: sys_recvfrom(fd: 8, ubuf: 0x5623d98b0260, size: 0x10000, flags: 0, addr: 0, addr_len: 0)
         bandgap-2962    [001] ..s2. 158169874694468: sk_data_ready: family=2 protocol=6 func=sock_def_readable
         bandgap-2961    [000] ..... 158169874696757: skb_copy_datagram_iovec: skbaddr=000000005fa76cf8 len=16
         bandgap-2962    [001] ..... 158169874698160: sys_sendto -> 0x10
         bandgap-2961    [000] ..... 158169874701723: sys_recvfrom -> 0x10
";

fn events(text: &str, tick: Option<f64>) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    read_kernel_trace(text.as_bytes(), tick, "bandgap batch", |event| events.push(*event))?;
    Ok(events)
}

#[test]
fn a_kernels_text_becomes_a_messages_way() {
    let mut messages = Messages::between([2961, 2962]);
    events(TCP, TICK).unwrap().iter().for_each(|event| messages.take(event));
    let path = path(&messages.kept);
    assert_eq!((path.messages, &*path.bytes, messages.unpaired), (1, &[16][..], 0));
    let steps: Vec<(Side, &str, f64)> =
        path.steps.iter().map(|step| (step.side, step.event.name, step.since_begin[0])).collect();
    // Half of the ticks since 158169874677048.
    use Side::{Receiver, Sender};
    assert_eq!(
        steps,
        [
            (Sender, "sys_enter_sendto", 0.0),
            (Sender, "tcp_sendmsg_locked", 1196.0),
            (Sender, "net_dev_queue", 3224.0),
            (Sender, "netif_rx", 4303.0),
            (Sender, "netif_receive_skb", 6214.0),
            (Sender, "tcp_probe", 7020.0),
            (Sender, "sk_data_ready", 8710.0),
            (Sender, "sys_exit_sendto", 10556.0),
            (Receiver, "sys_enter_recvfrom", 7696.5),
            (Receiver, "skb_copy_datagram_iovec", 9854.5),
            (Receiver, "sys_exit_recvfrom", 12337.5),
        ]
    );
}

#[test]
fn each_kind_of_line_is_what_it_says() {
    let text = "# entries-in-buffer/entries-written: 100/345   #P:2\n\
                a [b] -[x-7  [003] d.h1.   12.000004: sk_data_ready: family=1\n\
                CPU:1 [LOST 123 EVENTS]\n\
                CPU:0 [LOST EVENTS]\n\
                ##### CPU 1 buffer started ####\n\n\
                <...>-8 [011] ..... 13.500000: sys_write -> 0x1\n\
                <...>-8 [011] ..... 13.500000: tracing_mark_write: another's\n\
                <...>-8 [011] ..... 13.500001: sys_sendto(fd: 1, len: 0x1f)\n";
    let found = events(text, None).unwrap();
    let all: Vec<(u32, f64, What)> =
        found.iter().map(|event| (event.thread, event.ns, event.what)).collect();
    assert_eq!(
        all,
        [
            (0, 0.0, What::Lost(245)),
            (7, 0.0, What::Passes(event("sk_data_ready").unwrap())),
            (0, 0.0, What::Lost(123)),
            (0, 0.0, What::Lost(1)),
            // Those before it are in the header's number.
            (0, 0.0, What::Lost(0)),
            (8, 1.499_997e9, What::Enters(Call::Send, 31)),
        ]
    );
    let none = "# nothing\n# entries-in-buffer/entries-written: 100/100   #P:2\n";
    assert_eq!(events(none, TICK).unwrap(), []);
}

#[test]
fn what_is_no_trace_is_refused_with_its_line() {
    let line = |time: &str, event: &str| format!("a-1 [000] ..... {time}: {event}\n");
    let good = line("100", "sys_sendto -> 0x1");
    for (tick, text, why) in [
        (TICK, "garbage".to_owned(), "'garbage' is no event: expected NAME-NUMBER"),
        (TICK, "a-x [000] ..... 200: b: c".to_owned(), "is no event"),
        (TICK, "a-1 [0x0] ..... 200: b: c".to_owned(), "is no event"),
        (TICK, "a-1 [000] ..... 200".to_owned(), "is no event"),
        (TICK, line("99", "netif_rx: dev=lo"), "0.5 ns earlier than line 1"),
        (TICK, line("1.5", "netif_rx: dev=lo"), "its time is '1.5': expected ticks"),
        (TICK, line("-1", "netif_rx: dev=lo"), "expected ticks"),
        (TICK, line("101", "sys_sendto -> 0xzz"), "'0xzz' is no hexadecimal number"),
        (TICK, line("101", "sys_sendto(fd: 1)"), "of how many bytes it is"),
        (TICK, line("101", "sys_recvfrom(size: 0x"), "of how many bytes it is"),
        (TICK, "CPU:1 [LOST many EVENTS]".to_owned(), "'many' events are no number"),
        (TICK, "# entries-in-buffer/entries-written: a/345".to_owned(), "'a' events are no number"),
        (TICK, "CPU:1 [LOST 1".to_owned(), "does not say what was lost"),
    ] {
        let error = events(&(good.clone() + &text), tick).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains(why), "{why}: {error}");
    }
    let error = events(&line("1.00000", "netif_rx: dev=lo"), None).unwrap_err().to_string();
    assert!(error.contains("line 1: its time is '1.00000': expected seconds"), "{error}");
    // A line without an end does not fill the memory.
    let error = events(&"x".repeat(1 << 20), TICK).unwrap_err().to_string();
    assert!(error.contains("longer than 64 KiB"), "{error}");
}

#[test]
fn a_long_trace_is_read_as_it_comes() {
    let mut text = String::new();
    for n in 0..20_000 {
        writeln!(text, "a-1 [000] ..... {n}: sys_recvfrom -> 0xfffffffffffffff5").unwrap();
    }
    let mut count = 0;
    let failing = What::Returns(Call::Receive, -11);
    read_kernel_trace(text.as_bytes(), TICK, "", |event| count += u32::from(event.what == failing))
        .unwrap();
    assert_eq!(count, 20_000);
}
