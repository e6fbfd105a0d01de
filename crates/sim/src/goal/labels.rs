//! Labels of a rank's operations.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Numbers of operations by label, for one rank at a time.
#[derive(Default)]
pub(super) struct Labels {
    /// Numbers for consecutive labels l7, l8, l9, …, the first of which is `begin`.
    counted: Vec<u32>,
    begin: u64,
    numbers: HashMap<u128, u32, BuildHasherDefault<Mixed>>,
    long: HashMap<Vec<u8>, u128>,
}

/// Longest label that is its own key, in bytes.
const SHORT: usize = 15;

/// Bit that no such key has.
const LONG: u128 = 1 << 127;

/// A table is replaced, not emptied, if its capacity is this many times the number of its entries.
const SPARSE: usize = 64;

impl Labels {
    /// Forgets all labels.
    pub fn clear(&mut self) {
        if self.numbers.capacity() / SPARSE > self.numbers.len() {
            self.numbers = HashMap::default();
        }
        self.counted.clear();
        self.numbers.clear();
        self.long.clear();
    }

    /// Gives an operation a label. Returns whether no other operation had it.
    pub fn insert(&mut self, label: &[u8], number: u32) -> bool {
        if let Some((counted, [])) = counted(label) {
            if self.counted.is_empty() {
                self.begin = counted;
            }
            let place = counted.wrapping_sub(self.begin) as usize;
            if place < self.counted.len() {
                return false;
            }
            if place == self.counted.len() && self.numbers.is_empty() {
                self.counted.push(number);
                return true;
            }
        }
        let key = self.key(label);
        self.numbers.insert(key, number).is_none()
    }

    /// The operation with this label.
    pub fn get(&mut self, label: &[u8]) -> Option<u32> {
        if let Some((counted, [])) = counted(label)
            && let Some(number) = self.counted.get(counted.wrapping_sub(self.begin) as usize)
        {
            return Some(*number);
        }
        let key = self.key(label);
        self.numbers.get(&key).copied()
    }

    fn key(&mut self, label: &[u8]) -> u128 {
        if label.len() <= SHORT {
            let mut key = [0; 16];
            key[..label.len()].copy_from_slice(label);
            return u128::from_le_bytes(key);
        }
        let next = LONG | self.long.len() as u128;
        *self.long.entry(label.to_vec()).or_insert(next)
    }
}

/// If `bytes` begin with a label of the form `l7`: its number, and what follows.
#[inline(always)]
pub(super) fn counted(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let digits = bytes.strip_prefix(b"l")?;
    let (number, behind) = leading_number(digits)?;
    (digits[0] != b'0' || digits.len() - behind.len() == 1).then_some((number, behind))
}

/// The number of at most nine digits at the beginning of `bytes`, and what follows.
#[inline(always)]
pub(super) fn leading_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (mut number, mut behind) = (0_u64, bytes);
    while let Some((byte, rest)) = behind.split_first()
        && byte.is_ascii_digit()
    {
        number = number.wrapping_mul(10).wrapping_add((byte - b'0').into());
        behind = rest;
    }
    (1..=9).contains(&(bytes.len() - behind.len())).then_some((number, behind))
}

/// A hasher that mixes a single key by a multiplication.
#[derive(Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    /// Never called: keys are not bytes.
    fn write(&mut self, _: &[u8]) {}

    fn write_u128(&mut self, key: u128) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let folded = (key as u64).rotate_left(5) ^ (key >> 64) as u64;
        let product = u128::from(folded ^ ODD) * u128::from(ODD);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}
