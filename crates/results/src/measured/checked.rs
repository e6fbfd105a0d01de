//! How much of what was received was checked.

use bandgap_campaign::data::Verified;
use serde::{Deserialize, Serialize};

/// Messages whose contents were compared with what had been sent. A checked batch is not timed, and
/// each of its messages has a place of its own; in a timed batch, messages share a place, and what
/// stays there is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Checked batches.
    pub batches: u64,
    /// Messages received in them.
    pub messages: u64,
    /// Those of them that were compared.
    pub compared: u64,
    /// Points of which messages were received; 0 in older files, where they were not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub points: u64,
    /// Those of them that had no checked batch: there was no time, or no room for a place for each message.
    #[serde(default)]
    pub points_left_out: u64,
    /// Timed batches.
    pub timed_batches: u64,
    /// Messages received in them.
    pub timed_messages: u64,
    /// Those of them that were compared.
    pub timed_compared: u64,
    /// Requests and replies in them of which only the sum of all words was compared.
    #[serde(default)]
    pub timed_summed: u64,
}

impl Checked {
    /// What a campaign verified of these points.
    pub(crate) fn of<'a>(points: impl Iterator<Item = &'a Verified>) -> Checked {
        let (mut all, mut count, mut points_left_out) = (Verified::default(), 0, 0);
        for verified in points {
            count += 1;
            points_left_out += u64::from(verified.checked_batches == 0);
            all = all.and(verified.clone());
        }
        Checked {
            batches: all.checked_batches,
            messages: all.checked.received,
            compared: all.checked.compared,
            points: count,
            points_left_out,
            timed_batches: all.timed_batches,
            timed_messages: all.timed.received,
            timed_compared: all.timed.compared,
            timed_summed: all.timed.summed,
        }
    }

    /// `35 of 39 points`: those that were verified, where not all were, and each message of their checked batches
    /// was compared.
    pub(crate) fn in_part(&self) -> Option<String> {
        let checked = self.points.saturating_sub(self.points_left_out);
        let each = self.compared > 0 && self.compared == self.messages;
        let is_part = each && checked > 0 && self.points_left_out > 0;
        is_part.then(|| format!("{} of {} points", grouped(checked), grouped(self.points)))
    }

    /// Whether messages were compared: those of every point's checked batches, each of them.
    pub fn is_complete(&self) -> bool {
        let each = self.compared == self.messages && self.points_left_out == 0;
        each && self.compared + self.timed_compared > 0
    }

    /// It as a sentence.
    pub fn sentence(&self) -> String {
        let checked = of_batches(self.compared, self.messages, self.batches, "checked");
        let timed =
            of_batches(self.timed_compared, self.timed_messages, self.timed_batches, "timed");
        let summed = match self.timed_summed {
            0 => String::new(),
            messages => {
                let messages = grouped(messages);
                format!(" Of {messages} more in timed batches the sum of all words was compared.")
            }
        };
        let left_out = match (self.points_left_out, self.points) {
            (0, _) => String::new(),
            (1, 0 | 1) => " One point had no checked batch.".to_owned(),
            (points, 0) => format!(" {} points had no checked batch.", grouped(points)),
            (points, all) => {
                format!(" {} of {} points had no checked batch.", grouped(points), grouped(all))
            }
        };
        format!("Contents compared: {checked}; {timed}.{summed}{left_out}")
    }
}

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// `all 1 280 messages of 64 checked batches`.
fn of_batches(compared: u64, messages: u64, batches: u64, kind: &str) -> String {
    let plural = |count: u64, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", grouped(count)),
    };
    let share = match (compared, messages) {
        _ if batches == 0 => return format!("no {kind} batch"),
        (_, 0) => "no message".to_owned(),
        (a, b) if a == b => format!("all {}", plural(b, "message", "messages")),
        _ => format!("{} of {}", grouped(compared), plural(messages, "message", "messages")),
    };
    format!("{share} of {}", plural(batches, &format!("{kind} batch"), &format!("{kind} batches")))
}

/// A count in groups of three digits, which are kept on one line.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join("\u{a0}")
}

#[cfg(test)]
mod tests {
    use bandgap_kernels as kernels;

    use super::*;

    #[test]
    fn the_sentence_has_the_numbers() {
        let told = |[batches, messages, compared]: [u64; 3], timed: [u64; 4]| {
            let [timed_batches, timed_messages, timed_compared, timed_summed] = timed;
            let checked = Checked {
                batches,
                messages,
                compared,
                points: 1,
                points_left_out: u64::from(batches == 0),
                timed_batches,
                timed_messages,
                timed_compared,
                timed_summed,
            };
            checked.sentence().replace('\u{a0}', " ")
        };
        assert_eq!(
            told([64, 1280, 1280], [512, 51_200, 512, 0]),
            "Contents compared: all 1 280 messages of 64 checked batches; 512 of 51 200 messages of \
             512 timed batches."
        );
        assert_eq!(
            told([0; 3], [1, 1001, 1, 1000]),
            "Contents compared: no checked batch; 1 of 1 001 messages of 1 timed batch. Of 1 000 more in \
             timed batches the sum of all words was compared. One point had no checked batch."
        );
        // A barrier brings no message.
        assert_eq!(
            told([1, 0, 0], [2, 0, 0, 0]),
            "Contents compared: no message of 1 checked batch; no message of 2 timed batches."
        );
        assert_eq!(grouped(1_234_567).replace('\u{a0}', "'"), "1'234'567");
    }

    #[test]
    fn points_add_up() {
        let of = |received, compared| kernels::Checked { received, compared, summed: 3 };
        let one = || Verified::of_timed(of(80, 8)).and(Verified::of_timed(of(80, 8)));
        let points = [one(), one().and(Verified::of_checked(of(20, 19)))];
        let both = Checked::of(points.iter());
        assert_eq!([both.batches, both.messages, both.compared], [1, 20, 19]);
        assert_eq!((both.points, both.points_left_out), (2, 1));
        // Of these points one was checked, one message of which was not compared.
        assert_eq!(both.in_part(), None);
        let part = Checked { compared: 20, points: 39, points_left_out: 4, ..both };
        assert_eq!(part.in_part().unwrap(), "35 of 39 points");
        assert!(part.sentence().ends_with(" 4 of 39 points had no checked batch."), "{part:?}");
        for whole in [
            Checked { points_left_out: 0, ..part },
            // None was checked; the number is not known.
            Checked { points_left_out: 39, ..part },
            Checked { points: 0, ..part },
        ] {
            assert_eq!(whole.in_part(), None, "{whole:?}");
        }
        assert_eq!([both.timed_batches, both.timed_messages, both.timed_compared], [4, 320, 32]);
        assert_eq!(both.timed_summed, 12);
        let complete = Checked { points_left_out: 0, compared: 20, ..both };
        assert!(complete.is_complete() && !Checked::default().is_complete());
        // A point without a checked batch, or a message that was not compared.
        assert!(!Checked { points_left_out: 1, ..complete }.is_complete());
        assert!(!Checked { compared: 19, ..complete }.is_complete());
    }
}
