use super::*;

pub(crate) fn sample() -> Batches {
    let key = Key::new("issue").at("messages", 8_u32).at("delay_ps", 0_u32);
    let samples = vec![401.5, 0.1 + 0.2];
    let batch = Batch { samples, launch: 1, ..Batch::default() };
    Batches {
        transport: "tcp".into(),
        reason: "find a second M".into(),
        unit: "ns".into(),
        checked: None,
        batches: vec![OfPoint { of: key, batch }],
    }
}

#[test]
fn what_is_missing_is_said() {
    let text = sample().text(&Among::new([]), &Layout::default());
    assert_eq!(
        text,
        "1 batch over tcp without a fit: find a second M. A longer --time-budget measures\nmore; `bandgap doctor` says what disturbs this machine.\n"
    );
    assert_eq!(sample().verdict(), Verdict::Missing);
    let checked =
        Checked { batches: 1, messages: 20, compared: 20, points: 1, ..Checked::default() };
    let text =
        Batches { checked: Some(checked), ..sample() }.text(&Among::new([]), &Layout::default());
    assert!(
        text.replace(['\n', '\u{a0}'], " ").contains(&checked.sentence().replace('\u{a0}', " ")),
        "{text}"
    );
    let of_floor = Batches { transport: String::new(), ..sample() };
    let text = of_floor.text(&Among::new([]), &Layout::default());
    assert_eq!(
        text,
        "1 batch without a value: find a second M. A longer --time-budget measures more;\n`bandgap doctor` says what disturbs this machine.\n"
    );
}
