//! What libfabric's `fi_pingpong` prints: `bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec`.
//!
//! Its sizes have binary prefixes (`64k`) and at most one decimal, cut off rather than rounded.

use super::rows::{Rows, scaled_size, time};
use super::text::Text;
use super::{HockneyTable, Timing, Tool};
use crate::TableError;

/// The line of headings.
pub(super) fn tells(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.contains(&"bytes") && words.contains(&"usec/xfer")
}

pub(super) fn read(text: &Text) -> Result<HockneyTable, TableError> {
    let mut rows = Rows::default();
    let mut columns: Option<(usize, usize, usize)> = None;
    for line in &text.lines {
        let words = line.words();
        if tells(&line.text) {
            let place = |name| words.iter().position(|word| *word == name);
            columns = place("bytes").zip(place("usec/xfer")).map(|(b, t)| (b, t, words.len()));
            rows.timed(line.number, Timing::HalfRoundTrip)?;
            if place("#sent").is_some() {
                rows.note(
                    "fi_pingpong counts two transfers a round trip: its times are half of one.",
                );
            } else {
                rows.note(
                    "The columns are those of libfabric's fabtests: half round trips if it was one \
                     of their ping-pongs, times between messages if it was a bandwidth test.",
                );
            }
            continue;
        }
        let Some((bytes, elapsed, count)) = columns else { continue };
        if words.is_empty() || (bytes == 0 && !line.is_row()) {
            continue;
        }
        if words.len() != count {
            return Err(line.wrong(format!("it is cut: {} of {count} columns", words.len())));
        }
        let label = words[bytes];
        let (digits, factor) = match label.as_bytes().last() {
            Some(b'k') => (&label[..label.len() - 1], 1024.0),
            Some(b'm') => (&label[..label.len() - 1], 1024.0 * 1024.0),
            Some(b'g') => (&label[..label.len() - 1], 1024.0 * 1024.0 * 1024.0),
            _ => (label, 1.0),
        };
        let (bytes, whole) = scaled_size(line.number, "bytes", digits, factor)?;
        if !whole {
            rows.note(
                "fi_pingpong cuts its sizes to one decimal: those that are no whole number of bytes \
                 are up to a tenth of their prefix too small.",
            );
        }
        let mut time = time(line.number, "usec/xfer", words[elapsed], 1e3)?;
        if !whole {
            time = time.of_rounded_size(bytes, factor / 10.0);
        }
        rows.once(line.number, bytes, time)?;
    }
    rows.finish(Tool::FiPingpong)
}
