use bandgap_campaign::data::{Batch, Kept};
use bandgap_campaign::kernel_path::{KernelPathPlan, key};
use bandgap_campaign::{Setting, Table};
use bandgap_model::kernel_path::{Call, EVENTS, Event, Messages, What, event};
use bandgap_units::Ns;

use super::assemble::{Traced, kernel_path};
use super::*;
use crate::AssembleError;
use crate::measured::examples::asked;

/// Eight rounds, in which half a round trip takes so long without and with the events.
fn table(without: f64, with: f64) -> Table {
    let mut table = Table::default();
    for round in 0..8 {
        for (traced, half) in [(false, without), (true, with)] {
            let samples = vec![half + f64::from(round)];
            let batch = Batch { samples, round, ..Batch::default() };
            table.push(Kept::Batch { key: key(traced), batch });
        }
    }
    table
}

/// So many messages, of which those of an odd number do not pass the device.
fn messages(count: u32) -> Messages {
    let mut messages = Messages::between([1, 2]);
    for n in 0..count {
        let begin = 10_000.0 * f64::from(n);
        let passes = |name: &str| What::Passes(event(name).unwrap());
        let all = [
            (1, 0.0, What::Enters(Call::Send, 40)),
            (1, 900.0, passes("net_dev_queue")),
            (1, 2000.0, passes("sk_data_ready")),
            (2, 1500.0, What::Enters(Call::Receive, 1 << 16)),
            (1, 2500.0, What::Returns(Call::Send, 40)),
            (2, 3000.0, What::Returns(Call::Receive, 40)),
        ];
        for (thread, ns, what) in all {
            if n % 2 == 0 || what != passes("net_dev_queue") {
                messages.take(&Event { thread, ns: begin + ns, what });
            }
        }
    }
    messages
}

fn events() -> Vec<String> {
    EVENTS.iter().map(|event| format!("{}:{}", event.system, event.name)).collect()
}

fn made(
    table: &Table,
    messages: &Messages,
    events: &[String],
) -> Result<KernelPath, AssembleError> {
    let setting = Setting { transport: "tcp".into(), ..Setting::default() };
    let traced = Traced { messages, events, resolution: Ns(0.5) };
    kernel_path(&setting, &KernelPathPlan { asked: asked() }.judge(table), &traced)
}

pub(crate) fn sample() -> KernelPath {
    made(&table(7000.0, 10_500.0), &messages(20), &events()).unwrap()
}

fn text(of: &KernelPath) -> String {
    let whole = of.text(&Among::new([]), &Layout { width: 100, ..Layout::default() });
    whole.replace('\u{a0}', " ")
}

#[test]
fn the_page_says_that_it_is_an_illustration() {
    insta::assert_snapshot!(text(&sample()));
    assert!(sample().illustration);
}

#[test]
fn steps_are_medians_over_the_messages_that_passed_them() {
    let found = sample();
    let steps: Vec<_> = found
        .steps
        .iter()
        .map(|step| {
            let ns = |of: &Quantity| (of.value.0 * 1e9).round();
            let before = step.since_before.as_ref().map(ns);
            (step.side, step.event.as_str(), ns(&step.since_begin), before, step.seen)
        })
        .collect();
    assert_eq!(
        steps,
        [
            (Side::Sender, "sys_enter_sendto", 0.0, None, 20),
            (Side::Sender, "net_dev_queue", 900.0, Some(900.0), 10),
            (Side::Sender, "sk_data_ready", 2000.0, Some(1100.0), 20),
            (Side::Sender, "sys_exit_sendto", 2500.0, Some(500.0), 20),
            (Side::Receiver, "sys_enter_recvfrom", 1500.0, None, 20),
            (Side::Receiver, "sys_exit_recvfrom", 3000.0, Some(1500.0), 20),
        ]
    );
    assert_eq!((found.messages, &*found.bytes), (20, &[40][..]));
    // The medians of 7000 … 7007 and 10500 … 10507.
    assert_eq!(found.without_events.value.0, 7003.5e-9);
    assert_eq!(found.with_events.value.0, 10_503.5e-9);
    assert!((found.ratio.value.0 - 1.499_75).abs() < 1e-4, "{:?}", found.ratio);
}

#[test]
fn what_is_said_follows_from_what_was_seen() {
    let said = |of: &KernelPath| of.findings.join(" ");
    let usual = said(&sample());
    assert!(usual.contains("1.50 times as long"), "{usual}");
    assert!(usual.contains("net_dev_queue in 10 of 20"), "{usual}");
    for not in ["lost", "does not have", "left out", "a step of", "cannot be told"] {
        assert!(!usual.contains(not), "{not}: {usual}");
    }
    // Where the events take nothing that can be seen.
    let same = made(&table(7000.0, 6999.0), &messages(20), &events()).unwrap();
    assert!(said(&same).contains("cannot be told from this run"), "{same:?}");
    // Of a single message nothing is partly there; and a kernel may lack events, lose some, and have a coarse clock.
    let mut few = messages(1);
    (few.lost, few.unpaired) = (7, 3);
    let setting = Setting::default();
    let table = table(7000.0, 10_500.0);
    let judged = KernelPathPlan { asked: asked() }.judge(&table);
    let traced = Traced { messages: &few, events: &events()[1..], resolution: Ns(1000.0) };
    let found = said(&kernel_path(&setting, &judged, &traced).unwrap());
    for part in [
        "does not have the events syscalls:sys_enter_sendto.",
        "lost 7 events",
        "3 more messages are left out",
        "a step of 1.00 µs",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    assert!(!found.contains("Not all messages"), "{found}");
}

#[test]
fn without_a_message_or_a_round_there_is_no_path() {
    let none = made(&table(1.0, 2.0), &messages(0), &events()).unwrap_err();
    assert!(matches!(none, AssembleError::NoMessages), "{none}");
    let none = made(&Table::default(), &messages(3), &events()).unwrap_err();
    assert!(matches!(none, AssembleError::NoRounds), "{none}");
}
