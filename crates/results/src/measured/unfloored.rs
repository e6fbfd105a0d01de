//! What every measured result says of its conditions: that ranks shared processors, why it stands beside no floor, and
//! what its ratio to one contains.

use std::collections::BTreeSet;

use bandgap_campaign::Setting;

/// That ranks shared processors, and why a result of this name is compared with no floor.
pub(crate) fn conditions(setting: &Setting, result: &str) -> impl Iterator<Item = String> {
    oversubscribed(setting).into_iter().chain(unfloored(setting, result))
}

/// What times contain where ranks shared processors.
pub(crate) fn oversubscribed(setting: &Setting) -> Option<String> {
    let cpus: BTreeSet<usize> = setting.cpus.iter().flatten().copied().collect();
    let processors = if cpus.len() == 1 { "processor" } else { "processors" };
    setting.oversubscribed.then(|| {
        format!(
            "Oversubscribed: {} ranks shared {} {processors}, so times include scheduling, and placement states \
             were not probed.",
            setting.ranks,
            cpus.len()
        )
    })
}

/// Why a result of this name is compared with no floor; `None` where there is one, and in virtual time, which has none.
fn unfloored(setting: &Setting, result: &str) -> Option<String> {
    let any = setting.beside.iter().any(|beside| beside.has(result));
    if setting.is_virtual() {
        return None;
    }
    if !any {
        let transport = &setting.transport;
        return Some(format!(
            "There is no floor of this shape over {transport}, so no ratio to one is given."
        ));
    }
    setting.oversubscribed.then(|| {
        "No floor was measured: its loop spins, and where ranks share processors it would keep the other side \
         from running."
            .to_owned()
    })
}

/// What a ratio contains where ranks slept while they waited.
pub(crate) fn wake_up(setting: &Setting) -> Option<String> {
    setting.sleeps.then(|| {
        "Ranks slept while they waited, and floors poll: the ratio to a floor contains the wake-up."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use bandgap_campaign::beside::Beside;
    use bandgap_comm::{Floor, Yields};

    use super::*;

    #[test]
    fn why_there_is_no_floor_depends_on_the_transport_and_on_the_processors() {
        let floor = Floor::new("tcp", "", Yields::HalfRoundTrip, 20);
        let beside = vec![Beside { floor, results: vec!["echo".to_owned()] }];
        let of = |oversubscribed, cpus: Option<Vec<usize>>, result| {
            let transport = "tcp".to_owned();
            let beside = beside.clone();
            let setting = Setting { transport, beside, oversubscribed, cpus, ..Setting::default() };
            (unfloored(&setting, result), setting.floors_of(result).count())
        };
        let real = || Some(vec![0, 1]);
        assert_eq!(of(false, real(), "echo"), (None, 1));
        let none = Some(
            "There is no floor of this shape over tcp, so no ratio to one is given.".to_owned(),
        );
        assert_eq!(of(false, real(), "exchange"), (none.clone(), 0));
        assert_eq!(of(true, real(), "exchange"), (none, 0));
        let (why, floors) = of(true, real(), "echo");
        assert!(why.unwrap().contains("share processors") && floors == 0);
        assert_eq!(of(false, None, "exchange"), (None, 0));
    }

    #[test]
    fn that_ranks_share_processors_is_said_of_every_result() {
        let said = |ranks: usize, cpus: Vec<usize>| {
            let oversubscribed = cpus.len() < ranks || cpus == [1, 1];
            let setting = Setting { ranks, oversubscribed, cpus: Some(cpus), ..Setting::default() };
            conditions(&setting, "exchange").collect::<Vec<_>>().join(" ")
        };
        assert!(
            said(2, vec![1, 1]).starts_with("Oversubscribed: 2 ranks shared 1 processor, so times")
        );
        assert!(!said(2, vec![0, 1]).contains("shared"));
    }
}
