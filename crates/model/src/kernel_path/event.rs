//! Events of the kernel on the way of a message.

/// What happened when, and who did it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// The thread that did it, or that was interrupted for it.
    pub thread: u32,
    /// When.
    pub ns: f64,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// A batch begins: nothing before it is under way any more.
    Batch,
    /// So many events were lost before this one.
    Lost(u64),
    /// A call of the system begins, to move at most so many bytes.
    Enters(Call, u64),
    /// It ends: with the bytes that it moved, or less than 0.
    Returns(Call, i64),
    /// The kernel passes a tracepoint.
    Passes(&'static KernelEvent),
}

/// A call that moves a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `sendto`.
    Send,
    /// `recvfrom`.
    Receive,
}

/// A static tracepoint.
#[derive(Debug, PartialEq, Eq)]
pub struct KernelEvent {
    /// Its system among the kernel's events.
    pub system: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What the kernel does there.
    pub meaning: &'static str,
    /// Where it is in the kernel's sources.
    pub source: &'static str,
}

const fn of(
    system: &'static str,
    name: &'static str,
    meaning: &'static str,
    source: &'static str,
) -> KernelEvent {
    KernelEvent { system, name, meaning, source }
}

/// The events that are traced: those of the two calls, and tracepoints on the way of a message over a socket. Few, since
/// each takes time; and none that a call which receives nothing would pass.
#[rustfmt::skip] // One line each.
pub const EVENTS: [KernelEvent; 11] = [
    of("syscalls", "sys_enter_sendto", "the call that sends begins", "kernel/entry"),
    of("tcp", "tcp_sendmsg_locked", "TCP takes the bytes over", "net/ipv4/tcp.c"),
    of("net", "net_dev_queue", "the packet goes to its device", "net/core/dev.c"),
    of("net", "netif_rx", "the loopback device hands it to the receiving side", "net/core/dev.c"),
    of("net", "netif_receive_skb", "the receiving side takes it up, in a soft interrupt", "net/core/dev.c"),
    of("tcp", "tcp_probe", "TCP looks at the segment for the receiver", "net/ipv4/tcp_input.c"),
    of("sock", "sk_data_ready", "the receiver's socket tells who waits; the bytes are in its queue", "net/core/sock.c"),
    of("syscalls", "sys_exit_sendto", "the call that sends ends", "kernel/entry"),
    of("syscalls", "sys_enter_recvfrom", "the call that receives it begins", "kernel/entry"),
    of("skb", "skb_copy_datagram_iovec", "the bytes are copied to the receiver", "net/core/datagram.c"),
    of("syscalls", "sys_exit_recvfrom", "the call that receives it ends", "kernel/entry"),
];

/// The event of this name.
pub fn event(name: &str) -> Option<&'static KernelEvent> {
    const ALL: &[KernelEvent] = &EVENTS;
    ALL.iter().find(|event| event.name == name)
}

impl Call {
    /// The events of its beginning and of its end.
    pub(crate) fn events(self) -> [&'static str; 2] {
        match self {
            Self::Send => ["sys_enter_sendto", "sys_exit_sendto"],
            Self::Receive => ["sys_enter_recvfrom", "sys_exit_recvfrom"],
        }
    }
}
