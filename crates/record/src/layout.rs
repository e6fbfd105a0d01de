//! How the run file is laid out: a line per field, and arrays on one line, since thousands of
//! samples with a line each are read by nobody.

use std::io::{self, Write};

use serde_json::ser::{Formatter, PrettyFormatter};

/// Indents objects by two spaces a level and keeps arrays of plain values on one line.
#[derive(Default)]
pub(crate) struct Layout(PrettyFormatter<'static>);

impl Formatter for Layout {
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[test]
    fn a_line_per_field_and_none_per_sample() {
        let mut text = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut text, Layout::default());
        let value = serde_json::json!({"a": [1, 2.5], "b": [{"c": {}}, {"d": []}], "e": {}});
        value.serialize(&mut serializer).unwrap();
        let expected = "{\n  \"a\": [1, 2.5],\n  \"b\": [{\n    \"c\": {}\n  }, {\n    \"d\": []\n  }],\n  \"e\": {}\n}";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
