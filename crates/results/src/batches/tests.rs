use super::*;

pub(crate) fn sample() -> Batches {
    let key = Key::new("issue").at("messages", 8_u32).at("delay_ps", 0_u32);
    let samples = vec![401.5, 0.1 + 0.2];
    let batch = Batch { samples, launch: 1, ..Batch::default() };
    Batches {
        transport: "tcp".into(),
        reason: "find a second M".into(),
        unit: "ns".into(),
        batches: vec![OfPoint { of: key, batch }],
    }
}

#[test]
fn what_is_missing_is_said() {
    let text = sample().text(&Among::new([]), &Layout::default());
    assert_eq!(
        text,
        "1 batch over tcp without a fit: find a second M. A longer --time-budget measures\nmore.\n"
    );
    assert_eq!(sample().verdict(), Verdict::Missing);
    let of_floor = Batches { transport: String::new(), ..sample() };
    let text = of_floor.text(&Among::new([]), &Layout::default());
    assert_eq!(
        text,
        "1 batch without a value: find a second M. A longer --time-budget measures more.\n"
    );
}
