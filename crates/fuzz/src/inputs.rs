//! The inputs of a target, by number.

use std::collections::BTreeSet;
use std::io;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::corpus::examples;
use crate::mutate::Mutator;
use crate::{Shape, Target};

/// Most words that are taken from the examples.
const WORDS: usize = 4000;

/// The inputs of a target. The first are the examples as they are.
#[derive(Debug)]
pub struct Inputs {
    examples: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
    shape: Shape,
    seed: u64,
}

impl Inputs {
    /// Those of a seed.
    ///
    /// # Errors
    /// An example cannot be read.
    pub fn of(target: &Target, seed: u64) -> io::Result<Self> {
        let examples = examples(target)?;
        let mut words: BTreeSet<Vec<u8>> =
            target.words.iter().map(|word| word.as_bytes().to_vec()).collect();
        if target.shape != Shape::Bytes {
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.+".contains(byte);
            let found = examples.iter().flat_map(|text| text.split(|byte| !is_word(byte)));
            words.extend(found.filter(|word| !word.is_empty()).take(WORDS).map(<[u8]>::to_vec));
        }
        Ok(Self { examples, words: words.into_iter().collect(), shape: target.shape, seed })
    }

    /// How many examples there are.
    pub fn examples(&self) -> u64 {
        self.examples.len() as u64
    }

    /// The input of this number. It depends on the target's examples, the seed and the number only.
    pub fn get(&self, number: u64) -> Vec<u8> {
        if let Some(example) = self.examples.get(number as usize) {
            return example.clone();
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(
            self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
                ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93),
        );
        let mut input = match self.examples.len() {
            0 => Vec::new(),
            examples => self.examples[random.random_range(0..examples)].clone(),
        };
        let mutator = Mutator { examples: &self.examples, words: &self.words, shape: self.shape };
        mutator.change(&mut input, &mut random);
        input
    }
}
