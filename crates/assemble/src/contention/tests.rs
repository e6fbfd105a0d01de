use super::*;
use crate::series::series;
use crate::tests::Synthetic;
use bandgap_campaign::Described;

#[test]
fn a_slowdown_is_a_number_by_round() {
    let mut of = Synthetic::new();
    for (from, load, ns) in
        [(0_u32, 0_u32, 100.0), (0, 50, 180.0), (0, 90, 400.0), (4, 0, 50.0), (4, 50, 50.0)]
    {
        let point = Described { bytes: 8, moved: 8, ..Described::default() };
        let point =
            point.at("bytes", 8_u32).at("from", from).at("to", from + 1).at(LOAD_AXIS, load);
        of.timed("contention", point, ns);
    }
    let made = of.made(series).unwrap();
    let slowdown = |from: u32, load: u32| {
        let to = from + 1;
        made.value(&format!(
            "series/contention/shm/bytes=8/from={from}/to={to}/load={load}/slowdown"
        ))
    };
    assert_eq!((slowdown(0, 0), slowdown(0, 50)), (None, Some(1.8)));
    assert_eq!((slowdown(0, 90), slowdown(4, 50)), (Some(4.0), Some(1.0)));
}

#[test]
fn gaps_are_compared_with_that_of_one_requester() {
    let mut of = Synthetic::new();
    for (requesters, ns) in [(1, 10.0), (2, 20.0), (3, 30.0)] {
        of.times(&key(requesters), ns);
    }
    let made = of.made(fan_in).unwrap();
    let value = |id: &str| made.value(&format!("series/fan_in/shm/requesters={id}"));
    assert_eq!((value("1/slowdown"), value("3/slowdown")), (Some(1.0), Some(3.0)));
    let exact = made.quantity("series/fan_in/shm/requesters=1/slowdown").unwrap();
    assert_eq!(exact.half_width(), Some(0.0));
    assert!((value("2/gap").unwrap() - 20e-9).abs() < 1e-15);
    let mut lacks = Synthetic::new();
    lacks.times(&key(3), 30.0);
    assert!(matches!(lacks.made(fan_in), Err(AssembleError::Empty)));
}
