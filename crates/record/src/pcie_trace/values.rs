//! The values in a row. Errors say what is wrong with one.

use bandgap_model::pcie::{Direction, Kind};

use bandgap_import::shortened;

/// A value, or what is wrong with it.
pub(super) type Value<T> = std::result::Result<T, String>;

fn wrong(column: &str, text: &str, why: &str) -> String {
    format!("{column} is '{}': {why}", shortened(text))
}

/// A time in picoseconds, from a decimal number in a unit of 10^`power` of them. What is shorter than a
/// picosecond is cut off.
pub(super) fn picoseconds((column, power): (&str, u32), text: &str) -> Value<i128> {
    match decimal(text, power) {
        Some(time) => Ok(time),
        None => match text.parse::<f64>() {
            Err(_) => Err(wrong(column, text, "it must be a number")),
            // So much is 300 000 years.
            Ok(number) if number.abs() * 10_f64.powi(power as i32) < 1e25 => {
                Ok((number * 10_f64.powi(power as i32)).round() as i128)
            }
            Ok(_) => Err(wrong(column, text, "it is too long, or no number")),
        },
    }
}

/// Digits with one point at most, times 10^`power`, exactly; `None` of anything else.
fn decimal(text: &str, power: u32) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (mut number, mut count, mut left) = (0_i128, 0, None::<u32>);
    for byte in digits.bytes() {
        match (byte, left) {
            (b'0'..=b'9', Some(0)) => {}
            (b'0'..=b'9', _) => {
                // With the unit's, as many digits as fit for sure.
                if count == 25 {
                    return None;
                }
                number = number * 10 + i128::from(byte - b'0');
                count += u32::from(number > 0);
                left = left.map(|left| left - 1);
            }
            (b'.', None) => left = Some(power),
            _ => return None,
        }
    }
    if !digits.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let time = number * 10_i128.pow(left.unwrap_or(power));
    Some(if negative { -time } else { time })
}

/// Where a packet goes.
pub(super) fn direction(text: &str) -> Value<Direction> {
    let is = |words: [&str; 2]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(["down", "downstream"]) {
        Ok(Direction::Down)
    } else if is(["up", "upstream"]) {
        Ok(Direction::Up)
    } else {
        Err(wrong("direction", text, "it must be down (to the network interface) or up"))
    }
}

/// What a packet is. Types that are not known are of no interest.
pub(super) fn kind(text: &str) -> Kind {
    /// Beginnings of the names of packets of the transaction layer.
    const TRANSACTIONS: [&str; 12] =
        ["mrd", "cpl", "msg", "io", "cfg", "fetchadd", "swap", "cas", "mem", "tlp", "dmwr", "tcfg"];
    let begins =
        |with: &&str| text.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with));
    if begins(&"mwr") {
        Kind::Write
    } else if begins(&"ack") {
        Kind::Ack
    } else if TRANSACTIONS.iter().any(begins) {
        Kind::Transaction
    } else {
        Kind::Other
    }
}

/// Bytes of data.
pub(super) fn bytes(text: &str, needed: bool) -> Value<u32> {
    match text.parse() {
        Ok(bytes) => Ok(bytes),
        Err(_) if !needed && matches!(text, "" | "-") => Ok(0),
        Err(_) => Err(wrong("bytes", text, "it must be a whole number of bytes")),
    }
}

/// An address, in hexadecimal digits.
pub(super) fn address(text: &str) -> Value<Option<u64>> {
    if matches!(text, "" | "-") {
        return Ok(None);
    }
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X")).unwrap_or(text);
    let parsed = match digits.contains([':', '_']) {
        true => u64::from_str_radix(&digits.replace([':', '_'], ""), 16),
        false => u64::from_str_radix(digits, 16),
    };
    let why = "it must be at most 16 hexadecimal digits";
    parsed.map(Some).map_err(|_| wrong("address", text, why))
}

/// A sequence number or a tag, decimal or, after `0x`, hexadecimal.
pub(super) fn number(column: &str, text: &str) -> Value<Option<u64>> {
    if matches!(text, "" | "-") {
        return Ok(None);
    }
    let parsed = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map(Some).map_err(|_| wrong(column, text, "it must be a whole number"))
}
