//! The kernel's own text of a trace.

use bandgap_model::kernel_path::{Messages, path};
use bandgap_record::read_kernel_trace;

use crate::{Shape, Target, Verdict};

pub(super) const KERNEL_TRACE: Target = Target {
    name: "kernel-trace",
    about: "the kernel's text of a trace, with its times in ticks or in seconds",
    shape: Shape::Lines,
    real: &[],
    made: || vec![TICKS.as_bytes().to_vec(), SECONDS.as_bytes().to_vec()],
    wrong: || {
        let wrong = [
            "garbage\n",
            "a-1 [000] ..... 9: sys_sendto -> 0x1\na-1 [000] ..... 8: netif_rx: dev=lo\n",
            "a-1 [000] ..... 9: sys_sendto -> 0xzz\n",
            "CPU:1 [LOST many EVENTS]\n",
        ];
        wrong.map(|text| text.as_bytes().to_vec()).to_vec()
    },
    words: &[
        "tracing_mark_write: bandgap batch",
        "sys_sendto(fd: 8, len: 0x10)",
        "sys_sendto -> 0x10",
        "sys_recvfrom(fd: 8, size: 0x10000)",
        "sys_recvfrom -> 0x10",
        "sys_recvfrom -> 0xfffffffffffffff5",
        "netif_rx: dev=lo",
        "sk_data_ready: family=2",
        "0xffffffffffffffff",
        "bandgap-2961",
        "bandgap-2962",
        "CPU:1 [LOST 18446744073709551615 EVENTS]",
        "##### CPU 1 buffer started ####",
        "# entries-in-buffer/entries-written: 100/345   #P:2",
        ".....",
        "[000]",
    ],
    read,
    share: 3,
};

/// The ranks of the examples.
const THREADS: [u32; 2] = [2961, 2962];

/// A message over tcp, in ticks.
const TICKS: &str = "\
# tracer: nop
# entries-in-buffer/entries-written: 11/11   #P:2
         bandgap-2961    [000] ..... 158169874600000: tracing_mark_write: bandgap batch
         bandgap-2962    [001] ..... 158169874677048: sys_sendto(fd: 8, buff: 0x7ffc, len: 0x10, flags: 0x4000)
         bandgap-2961    [000] ..... 158169874677855: sys_recvfrom -> 0xfffffffffffffff5
         bandgap-2962    [001] ..... 158169874679440: tcp_sendmsg_locked: skb_addr 0 skb_len 0 msg_left 16
         bandgap-2962    [001] b.... 158169874683496: net_dev_queue: dev=lo skbaddr=000000005fa76cf8 len=82
         bandgap-2961    [000] ..... 158169874692441: sys_recvfrom(fd: 8, ubuf: 0x5623, size: 0x10000, flags: 0)
         bandgap-2962    [001] ..s2. 158169874694468: sk_data_ready: family=2 protocol=6
CPU:1 [LOST 123 EVENTS]
##### CPU 1 buffer started ####
         bandgap-2962    [001] ..... 158169874698160: sys_sendto -> 0x10
         bandgap-2961    [000] ..... 158169874701723: sys_recvfrom -> 0x10
";

/// The same in seconds, in short.
const SECONDS: &str = "\
         bandgap-2961    [000] .....    12.000001: tracing_mark_write: bandgap batch
         bandgap-2962    [001] .....    12.000004: sys_sendto(fd: 8, len: 0x10)
         bandgap-2961    [000] .....    12.000004: sys_recvfrom(fd: 8, size: 0x10000)
         bandgap-2962    [001] ..s2.    12.000006: sk_data_ready: family=2
         bandgap-2962    [001] .....    12.000007: sys_sendto -> 0x10
         bandgap-2961    [000] .....    12.000009: sys_recvfrom -> 0x10
";

/// In ticks, and in seconds: a trace is one of them.
fn read(input: &[u8]) -> Verdict {
    let read = [Some(0.5), None].map(|ns_per_tick| {
        let mut messages = Messages::between(THREADS);
        let read = read_kernel_trace(input, ns_per_tick, "bandgap batch", |event| {
            assert!(event.ns.is_finite() && event.ns >= 0.0, "{event:?}");
            messages.take(event);
        });
        let path = path(&messages.kept);
        assert!(path.messages + path.others == messages.kept.len());
        for step in &path.steps {
            assert!(step.since_begin.iter().all(|time| time.is_finite()), "{step:?}");
        }
        read.is_ok()
    });
    if read.contains(&true) { Verdict::Accepted } else { Verdict::Refused }
}
