//! Keys, which say what a batch is a batch of.

use bandgap_units::Place;
use serde::{Deserialize, Serialize};

/// A name with coordinates: `comms1` at `bytes` 64, `part` whole.
///
/// Keys sort by name, then by the values in the order in which the axes were given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    what: String,
    axes: Vec<(String, Place)>,
}

impl Key {
    /// A key without axes.
    pub fn new(what: &str) -> Self {
        Self { what: what.to_owned(), axes: Vec::new() }
    }

    /// The same key with one more coordinate.
    pub fn at(mut self, axis: &str, place: impl Into<Place>) -> Self {
        self.axes.push((axis.to_owned(), place.into()));
        self
    }

    /// The same key with another coordinate on one of its axes.
    pub fn with(mut self, axis: &str, place: impl Into<Place>) -> Self {
        if let Some((_, own)) = self.axes.iter_mut().find(|(name, _)| name == axis) {
            *own = place.into();
        }
        self
    }

    /// Its name.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Its axes and coordinates.
    pub fn axes(&self) -> impl Iterator<Item = (&str, &Place)> {
        self.axes.iter().map(|(name, place)| (name.as_str(), place))
    }

    /// Its coordinate on an axis of numbers.
    pub fn number(&self, axis: &str) -> Option<u64> {
        self.place(axis)?.number()
    }

    /// Its coordinate on an axis of names.
    pub fn text(&self, axis: &str) -> Option<&str> {
        match self.place(axis)? {
            Place::Text(text) => Some(text),
            Place::Number(_) | Place::List(_) => None,
        }
    }

    fn place(&self, axis: &str) -> Option<&Place> {
        self.axes.iter().find(|(name, _)| name == axis).map(|(_, place)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_by_name_then_by_axes_as_given() {
        let key = |what: &str, messages: u32, delay: u64| {
            Key::new(what).at("messages", messages).at("delay_ps", delay)
        };
        let mut keys =
            [key("rtt", 1, 0), key("issue", 8, 5), key("issue", 8, 0), key("issue", 2, 9)];
        keys.sort();
        let sorted = [key("issue", 2, 9), key("issue", 8, 0), key("issue", 8, 5), key("rtt", 1, 0)];
        assert_eq!(keys, sorted);
    }

    #[test]
    fn places_come_back_by_axis() {
        let key = Key::new("series").at("bytes", 64_u32).at("part", "whole");
        assert_eq!(
            (key.what(), key.number("bytes"), key.text("part")),
            ("series", Some(64), Some("whole"))
        );
        assert_eq!(
            (key.number("part"), key.text("bytes"), key.number("ranks")),
            (None, None, None)
        );
        let text = serde_json::to_string(&key).unwrap();
        assert_eq!(text, r#"{"what":"series","axes":[["bytes",64],["part","whole"]]}"#);
        assert_eq!(serde_json::from_str::<Key>(&text).unwrap(), key);
    }
}
