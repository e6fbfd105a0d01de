//! How many operations two stamps enclose.

use bandgap_kernels::{Fact, Kernel, Over, Overlap, Series, in_series};

use crate::bare::FLOOR;
use crate::key::Key;

/// What the time of one sample of a series is divided by: the parts of an operation, of all operations. Those of message
/// passing are done several times because one is short; bursts of transfers are looked at as they are.
pub(crate) fn operations((fact, series): &(Fact, Series), messages: u32) -> f64 {
    let messages = if fact.over == Over::Transfer { 1 } else { messages };
    f64::from(series.parts) * f64::from(messages)
}

/// The same of a key; 1 for what else is measured, the times of which are those of whole samples. A sample of a floor
/// holds so many operations, or so long a one, that the clock is no limit.
pub(crate) fn operations_of(key: &Key) -> f64 {
    if key.what() == FLOOR {
        return f64::INFINITY;
    }
    let messages = key.number("messages").and_then(|messages| u32::try_from(messages).ok());
    match (in_series(key.what()), messages) {
        (Ok(kernel), Some(messages)) => operations(&kernel, messages),
        (Err(_), Some(messages)) if key.what() == Overlap::NAME => f64::from(messages),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use bandgap_kernels::OverlapMode;

    use super::*;
    use crate::overlap::Cell;

    #[test]
    fn a_sample_of_messages_holds_several_operations_and_a_burst_is_one() {
        let of = |what, messages: u32| operations_of(&Key::new(what).at("messages", messages));
        // There and back, sixteen times.
        assert_eq!([of("comms1", 16), of("synch1", 16), of("bulk_get", 16)], [32.0, 16.0, 1.0]);
        let cell = |mode| operations_of(&Cell::of(mode, 8, 1).key());
        assert_eq!([OverlapMode::Blocking, OverlapMode::Overheads].map(cell), [16.0, 1.0]);
        // The time of a burst of requests is that of all.
        assert_eq!(
            [of("issue", 16), operations_of(&crate::bare::key("tcp"))],
            [1.0, f64::INFINITY]
        );
    }
}
