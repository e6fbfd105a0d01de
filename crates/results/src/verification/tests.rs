use bandgap_campaign::data::{Kept, Verified};
use bandgap_campaign::{Key, Setting, Table};

use super::assemble::verification;
use super::*;

pub(crate) fn sample() -> Verification {
    let setting = Setting { transport: "shm".into(), cpus: Some(vec![0, 1]), ..Setting::default() };
    let of = |received, compared, summed| bandgap_kernels::Checked { received, compared, summed };
    let mut table = Table::default();
    for (key, verified) in [
        ("burst", Verified::of_checked(of(40, 40, 0))),
        ("burst", Verified::of_timed(of(1000, 0, 1000))),
        ("stream", Verified::left_out("too many words".into())),
        ("other", Verified::left_out("too many words".into())),
    ] {
        table.push(Kept::Verified { key: Key::new(key), verified });
    }
    verification("signature", &setting, &table).unwrap()
}

#[test]
fn it_says_what_was_done_and_what_was_not() {
    let text = |of: &Verification| {
        let whole = of.text(&Among::new([]), &Layout { width: 400, ..Layout::default() });
        whole.replace(['\u{a0}', '\n'], " ")
    };
    let whole = sample();
    let told = text(&whole);
    for part in [
        "signature over shm: Contents compared: all 40 messages of 1 checked batch;",
        "0 of 1 000 messages of 1 timed batch.",
        "Of 1 000 more in timed batches the sum of all words was compared.",
        "some points had no checked batch: too many words",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(told.matches("too many words").count(), 1, "{told}");
    let nothing = Verification { findings: Vec::new(), checked: Checked::default(), ..whole };
    let told = text(&nothing);
    assert!(!told.contains("the sum of") && !told.contains("no checked batch:"), "{told}");
}

#[test]
fn virtual_time_has_nothing_to_verify() {
    let table = Table::default();
    assert_eq!(verification("signature", &Setting::default(), &table), None);
}
