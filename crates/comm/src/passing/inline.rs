//! Short messages, which travel in words.

use crate::Word;

/// Longest message that travels in the words of its request, in bytes.
pub const INLINE: usize = 24;

/// Packs up to 8 bytes into a word: the first byte is the lowest, and missing bytes are 0. Needs no
/// loop, only two loads that overlap.
#[inline(always)]
pub(super) fn pack_word(bytes: &[u8]) -> Word {
    if let Some(whole) = bytes.first_chunk::<8>() {
        return Word::from_le_bytes(*whole);
    }
    let len = bytes.len();
    if let (Some(low), Some(high)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let high = Word::from(u32::from_le_bytes(*high));
        return Word::from(u32::from_le_bytes(*low)) | high << (8 * (len - 4));
    }
    if let (Some(low), Some(high)) = (bytes.first_chunk::<2>(), bytes.last_chunk::<2>()) {
        let high = Word::from(u16::from_le_bytes(*high));
        return Word::from(u16::from_le_bytes(*low)) | high << (8 * (len - 2));
    }
    bytes.first().map_or(0, |&byte| Word::from(byte))
}

/// Packs up to [`INLINE`] bytes into words in the same way.
#[inline]
pub(super) fn pack(bytes: &[u8]) -> [Word; 3] {
    debug_assert!(bytes.len() <= INLINE);
    let mut words = [0; 3];
    for (word, piece) in words.iter_mut().zip(bytes.chunks(8)) {
        *word = pack_word(piece);
    }
    words
}

/// Fills `into` with the bytes that [`pack`] put into these words.
#[inline(always)]
pub(super) fn unpack(words: &[Word; 3], into: &mut [u8]) {
    // The usual length needs no call, and reads only one word: loading several words at once that a
    // handler has just stored one by one would take longer than all of this.
    match <&mut [u8; 8]>::try_from(&mut *into) {
        Ok(whole) => *whole = words[0].to_le_bytes(),
        Err(_) => unpack_all(words, into),
    }
}

#[inline(never)]
fn unpack_all(words: &[Word; 3], into: &mut [u8]) {
    for (word, piece) in words.iter().zip(into.chunks_mut(8)) {
        for (to, byte) in piece.iter_mut().zip(word.to_le_bytes()) {
            *to = byte;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_comes_back_and_nothing_beside_it_changes() {
        let bytes: Vec<u8> = (1..=INLINE as u8).collect();
        for len in 0..=INLINE {
            let words = pack(&bytes[..len]);
            // The words are the bytes and then zeros, in memory order.
            let all: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert_eq!(all[..len], bytes[..len]);
            assert!(all[len..].iter().all(|&byte| byte == 0), "{len}: {all:?}");
            let mut into = [0xEE; INLINE + 1];
            unpack(&words, &mut into[..len]);
            assert_eq!(into[..len], bytes[..len]);
            assert!(into[len..].iter().all(|&byte| byte == 0xEE));
        }
    }
}
