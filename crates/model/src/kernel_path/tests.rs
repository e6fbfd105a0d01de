use super::*;

const A: u32 = 100;
const B: u32 = 200;

fn at(thread: u32, ns: f64, what: What) -> Event {
    Event { thread, ns, what }
}

fn passes(name: &str) -> What {
    What::Passes(event(name).unwrap())
}

fn sends(thread: u32, ns: f64, bytes: u64) -> [Event; 2] {
    let [begin, end] = [What::Enters(Call::Send, bytes), What::Returns(Call::Send, bytes as i64)];
    [at(thread, ns, begin), at(thread, ns + 50.0, end)]
}

fn receives(thread: u32, ns: f64, bytes: i64) -> [Event; 2] {
    let [begin, end] = [What::Enters(Call::Receive, 1 << 16), What::Returns(Call::Receive, bytes)];
    [at(thread, ns, begin), at(thread, ns + 30.0, end)]
}

/// Messages of these events, in the order of time.
fn of(mut events: Vec<Event>) -> Messages {
    events.sort_by(|a, b| a.ns.total_cmp(&b.ns));
    let mut messages = Messages::between([A, B]);
    events.iter().for_each(|event| messages.take(event));
    messages
}

/// A message from A to B that begins at `ns`: its call passes two events and ends after the receiver's has begun; a call
/// that finds nothing comes before.
fn message(ns: f64) -> Vec<Event> {
    let mut events = vec![
        at(A, ns, What::Enters(Call::Send, 40)),
        at(A, ns + 10.0, passes("net_dev_queue")),
        at(A, ns + 25.0, passes("sk_data_ready")),
        at(A, ns + 60.0, What::Returns(Call::Send, 40)),
        at(B, ns + 40.0, What::Enters(Call::Receive, 1 << 16)),
        at(B, ns + 45.0, passes("skb_copy_datagram_iovec")),
        at(B, ns + 55.0, What::Returns(Call::Receive, 40)),
    ];
    events.extend(receives(B, ns + 5.0, -11));
    events
}

/// The steps as (side, name, median since the beginning, median since the step before, how many).
fn steps(path: &Path) -> Vec<(Side, &str, f64, Option<f64>, usize)> {
    let median = bandgap_stats::quantile::median;
    let before = |step: &Step| (!step.since_before.is_empty()).then(|| median(&step.since_before));
    let row = |step: &Step| (step.side, step.event.name, median(&step.since_begin), before(step));
    let rows = path.steps.iter().map(|step| (row(step), step.since_begin.len()));
    rows.map(|((side, name, begin, before), seen)| (side, name, begin, before, seen)).collect()
}

#[test]
fn a_message_is_what_two_calls_pass() {
    let messages = of([message(1000.0), message(3000.0)].concat());
    assert_eq!((messages.kept.len(), messages.unpaired, messages.lost), (2, 0, 0));
    let path = path(&messages.kept);
    assert_eq!((path.messages, path.others, &*path.bytes), (2, 0, &[40][..]));
    use Side::{Receiver, Sender};
    assert_eq!(
        steps(&path),
        [
            (Sender, "sys_enter_sendto", 0.0, None, 2),
            (Sender, "net_dev_queue", 10.0, Some(10.0), 2),
            (Sender, "sk_data_ready", 25.0, Some(15.0), 2),
            (Sender, "sys_exit_sendto", 60.0, Some(35.0), 2),
            // The call that received it, not the one that found nothing.
            (Receiver, "sys_enter_recvfrom", 40.0, None, 2),
            (Receiver, "skb_copy_datagram_iovec", 45.0, Some(5.0), 2),
            (Receiver, "sys_exit_recvfrom", 55.0, Some(10.0), 2),
        ]
    );
}

#[test]
fn an_event_that_some_messages_lack_counts_where_it_is() {
    let mut second = message(3000.0);
    second.retain(|event| event.what != passes("net_dev_queue"));
    // A second one in the same call is not the way of this message.
    second.push(at(A, 3055.0, passes("sk_data_ready")));
    let path = path(&of([message(1000.0), second].concat()).kept);
    let found = steps(&path);
    assert_eq!(found[1], (Side::Sender, "net_dev_queue", 10.0, Some(10.0), 1));
    // Since the step before: of the one message that has both.
    assert_eq!(found[2], (Side::Sender, "sk_data_ready", 25.0, Some(15.0), 2));
    assert_eq!(path.steps[2].since_before, [15.0]);
}

#[test]
fn several_messages_under_way_come_in_their_order() {
    let mut events = Vec::new();
    // Two from A at 0 and 100, one from B between them; received at 500, 600 and 300.
    for [begin, end] in [
        sends(A, 0.0, 40),
        sends(A, 100.0, 24),
        sends(B, 60.0, 16),
        receives(B, 500.0, 40),
        receives(B, 600.0, 24),
        receives(A, 300.0, 16),
    ] {
        events.extend([begin, end]);
    }
    // What a third process does is nobody's.
    events.extend(sends(300, 10.0, 40));
    events.extend(receives(300, 20.0, 40));
    let found = of(events);
    let whole = |message: &Message| {
        let times = [&message.sending, &message.receiving].map(|of| of[0].ns);
        (message.sender, message.bytes, times)
    };
    let mut all: Vec<_> = found.kept.iter().map(whole).collect();
    all.sort_by(|a, b| a.2[0].total_cmp(&b.2[0]));
    assert_eq!(all, [(0, 40, [0.0, 500.0]), (1, 16, [60.0, 300.0]), (0, 24, [100.0, 600.0])]);
    assert_eq!(found.unpaired, 0);
}

#[test]
fn what_cannot_be_paired_is_left_out_and_counted() {
    // Two messages in one call.
    let mut together: Vec<Event> = [sends(A, 0.0, 40), sends(A, 100.0, 40)].concat();
    together.extend(receives(B, 500.0, 80));
    together.extend(message(1000.0));
    let found = of(together);
    assert_eq!((found.kept.len(), found.unpaired), (1, 2));
    assert_eq!(found.kept[0].sending[0].ns, 1000.0);
    // One that was sent before the trace began, and then one in pieces.
    let mut pieces = receives(B, 0.0, 40).to_vec();
    pieces.extend(sends(A, 100.0, 40));
    pieces.extend(receives(B, 200.0, 30));
    pieces.extend(receives(B, 300.0, 10));
    pieces.extend(message(1000.0));
    let found = of(pieces);
    assert_eq!((found.kept.len(), found.unpaired), (1, 3));
    // A call of which only the end is there.
    let mut cut = vec![at(B, 0.0, What::Returns(Call::Receive, 40))];
    cut.extend(message(1000.0));
    let found = of(cut);
    assert_eq!((found.kept.len(), found.unpaired), (1, 1));
    // One that was not sent.
    let mut refused = message(1000.0);
    refused.push(at(A, 10.0, What::Enters(Call::Send, 40)));
    refused.push(at(A, 20.0, What::Returns(Call::Send, -11)));
    assert_eq!(of(refused).kept.len(), 1);
}

#[test]
fn nothing_is_paired_over_lost_events_or_the_beginning_of_a_batch() {
    for (what, lost) in [(What::Lost(123), 123), (What::Batch, 0)] {
        // The reception of the first one is lost: the second one's is not that of the first.
        let mut events = sends(A, 0.0, 40).to_vec();
        events.push(at(0, 500.0, what));
        events.extend(message(1000.0));
        let found = of(events);
        assert_eq!((found.kept.len(), found.lost), (1, lost));
        assert_eq!(found.kept[0].sending[0].ns, 1000.0);
    }
}

#[test]
fn messages_of_other_lengths_are_left_out() {
    let mut events: Vec<Event> = (0..3).flat_map(|n| message(1000.0 * f64::from(n))).collect();
    events.extend(sends(A, 3000.0, 24).into_iter().chain(receives(B, 3500.0, 24)));
    events.extend(sends(B, 3600.0, 16).into_iter().chain(receives(A, 3700.0, 16)));
    let path = path(&of(events).kept);
    assert_eq!((path.messages, path.others, &*path.bytes), (4, 1, &[16, 40][..]));
    assert_eq!(super::path(&[]), Path::default());
}

#[test]
fn memory_is_bounded() {
    // Nobody receives any of them.
    let found = of((0..5000).flat_map(|n| sends(A, 100.0 * f64::from(n), 40)).collect());
    assert!(found.kept.is_empty());
    let mut long = vec![at(A, 0.0, What::Enters(Call::Send, 40))];
    long.extend((1..1000).map(|n| at(A, f64::from(n), passes("net_dev_queue"))));
    long.push(at(A, 1000.0, What::Returns(Call::Send, 40)));
    long.extend(receives(B, 1100.0, 40));
    let found = of(long);
    assert!(found.kept[0].sending.len() < 100);
    assert_eq!(found.kept[0].sending.last().unwrap().event.name, "sys_exit_sendto");
}

#[test]
fn each_event_is_documented() {
    let method = include_str!("../../../../docs/method.md");
    for KernelEvent { name, meaning, source, .. } in EVENTS {
        let row = format!("\n| `{name}` | {meaning} | `{source}` |\n");
        assert!(method.contains(&row), "docs/method.md lacks {row}");
    }
}

#[test]
fn each_event_is_there_once() {
    let mut names: Vec<&str> = EVENTS.iter().map(|event| event.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), EVENTS.len());
    for name in [Call::Send, Call::Receive].into_iter().flat_map(Call::events) {
        assert_eq!(event(name).unwrap().system, "syscalls");
    }
    assert_eq!(event("sched_switch"), None);
}
