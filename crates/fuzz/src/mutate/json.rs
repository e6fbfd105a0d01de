//! Changes of values of JSON.

use rand::RngExt;
use serde_json::{Map, Value};

use super::{Mutator, NUMBERS, Random, bytes};

/// Changes values so many times; as bytes where the input is no JSON.
pub(super) fn change(input: &mut Vec<u8>, times: u32, with: &Mutator<'_>, random: &mut Random) {
    // Several messages are several lines.
    let lines = input.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let values: Result<Vec<Value>, _> = match serde_json::from_slice(input) {
        Ok(one) => Ok(vec![one]),
        Err(_) => lines.map(serde_json::from_slice).collect(),
    };
    let ended = input.ends_with(b"\n");
    let Ok(mut values) = values else { return bytes::change(input, with, random) };
    if values.is_empty() {
        return bytes::change(input, with, random);
    }
    for _ in 0..times {
        let at = random.random_range(0..values.len());
        let steps = size(&values[at]);
        let mut step = random.random_range(0..steps);
        alter(&mut values[at], &mut step, with, random);
    }
    let mut texts: Vec<String> = values.iter().map(Value::to_string).collect();
    for text in &mut texts {
        *text = borders(text, random);
    }
    *input = texts.join("\n").into_bytes();
    // A message whose line does not end is never read.
    if ended || values.len() > 1 {
        input.push(b'\n');
    }
}

/// Values in a value, with itself.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(size).sum(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

/// Changes the value that is so many steps away.
fn alter(value: &mut Value, steps: &mut usize, with: &Mutator<'_>, random: &mut Random) -> bool {
    if *steps == 0 {
        change_one(value, with, random);
        return true;
    }
    *steps -= 1;
    match value {
        Value::Array(all) => all.iter_mut().any(|one| alter(one, steps, with, random)),
        Value::Object(fields) => fields.values_mut().any(|one| alter(one, steps, with, random)),
        _ => false,
    }
}

fn change_one(value: &mut Value, with: &Mutator<'_>, random: &mut Random) {
    match (value, random.random_range(0..8_u32)) {
        (Value::Array(all), 0..=2) if !all.is_empty() => {
            let one = all[random.random_range(0..all.len())].clone();
            let times = 1 << random.random_range(0..8_u32);
            all.extend(std::iter::repeat_n(one, random.random_range(1..=times)));
        }
        (Value::Array(all), 3..=5) if !all.is_empty() => {
            all.remove(random.random_range(0..all.len()));
        }
        (Value::Object(fields), 0..=3) if !fields.is_empty() => {
            let name = name(fields, random);
            fields.remove(&name);
        }
        (Value::Object(fields), 4..=5) if !fields.is_empty() => {
            let (from, to) = (name(fields, random), name(fields, random));
            let moved = fields[&from].clone();
            fields.insert(to, moved);
        }
        (value, 6) => {
            for _ in 0..1 << random.random_range(0..9_u32) {
                *value = if random.random() {
                    Value::Array(vec![value.take()])
                } else {
                    Value::Object(Map::from_iter([("a".to_owned(), value.take())]))
                };
            }
        }
        (value, _) => *value = fresh(with, random),
    }
}

fn name(fields: &Map<String, Value>, random: &mut Random) -> String {
    let at = random.random_range(0..fields.len());
    fields.keys().nth(at).cloned().unwrap_or_default()
}

/// A value of any kind.
fn fresh(with: &Mutator<'_>, random: &mut Random) -> Value {
    match random.random_range(0..9_u32) {
        0 => Value::Null,
        1 => Value::Bool(random.random()),
        2 => Value::Array(Vec::new()),
        3 => Value::Object(Map::new()),
        4 | 5 => {
            let word = with.replacement(random).repeat(1 << random.random_range(0..8_u32));
            Value::String(String::from_utf8_lossy(&word).into_owned())
        }
        6 => Value::String(BORDER.to_owned()),
        7 => Value::from(random.random_range(0..300_u32)),
        _ => Value::from(random.random_range(-1e3..1e3)),
    }
}

/// Stands for a number that `Value` cannot hold.
const BORDER: &str = "\u{1}border\u{1}";

/// The text with numbers at borders in their places.
fn borders(text: &str, random: &mut Random) -> String {
    let mark = Value::from(BORDER).to_string();
    let mut parts = text.split(&mark);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        whole += NUMBERS[random.random_range(0..NUMBERS.len())];
        whole += part;
    }
    whole
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::Shape;

    #[test]
    fn a_message_that_ends_still_ends_when_it_is_changed() {
        let with = Mutator { examples: &[], words: &[], shape: Shape::Json };
        for text in ["{\"a\":[1]}\n", "1\n\"b\"\n", "{\"a\":[1]}"] {
            for seed in 0..100 {
                let mut input = text.as_bytes().to_vec();
                change(&mut input, 1, &with, &mut Random::seed_from_u64(seed));
                assert_eq!(input.ends_with(b"\n"), text.ends_with('\n'), "{text:?}, {seed}");
            }
        }
    }
}
