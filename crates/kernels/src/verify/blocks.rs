//! Contents of blocks that are stored or got: bytes that identify their writer, its partner, the
//! turn and the place.
//!
//! A region holds a number of blocks of one length. A burst of more blocks goes round: block i
//! arrives in place i modulo that number, and in each round it is sent from one place further on.
//! So blocks of 8 bytes or more differ from what the round before left there; shorter ones may not.

use bandgap_comm::{ActiveMessages, Bulk, CommError, Rank, Result, Watch};

use super::content::{CHUNK, fill, salt};
use crate::{Flaw, Words, Wrong};

/// Alignment of blocks, in bytes.
const ALIGNMENT: usize = 64;

/// A rank's exposed memory in two halves: blocks arrive in the first, and are sent from the second.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    turn: u64,
    partner: Rank,
    pub(crate) words: Words,
    /// How often each half changed hands in this turn.
    written: u64,
    checked: u64,
    /// Blocks that arrived in this turn, and how many of them were compared.
    pub(crate) arrived: u64,
    pub(crate) compared: u64,
    pub(crate) wrong: Option<Wrong>,
    chunk: Vec<u8>,
}

impl Blocks {
    /// Begins a turn of transfers between `rank` and `partner`.
    pub(crate) fn begin(&mut self, turn: u64, rank: Rank, partner: Rank) {
        let mut chunk = std::mem::take(&mut self.chunk);
        chunk.resize(CHUNK, 0);
        let words = Words::new(rank, turn);
        *self = Self { turn, partner, words, chunk, ..Self::default() };
    }

    /// Fills the places that `blocks` blocks are sent from.
    pub(crate) fn refresh<E: Bulk, S, W: Watch>(
        &mut self,
        am: &mut ActiveMessages<E, S, W>,
        blocks: u64,
        bytes: usize,
    ) -> Result<()> {
        self.written += 1;
        let (source, to) = (am.rank() as u64, self.partner as u64);
        for place in 0..blocks.min(places(am.endpoint(), bytes)?) {
            let salt = salt([self.turn, source, to, self.written, place]);
            let block = source_of(am.endpoint(), place, bytes)?;
            for (at, len) in chunks(bytes) {
                fill(&mut self.chunk[..len], salt, at);
                am.write_exposed(block + at, &self.chunk[..len])?;
            }
        }
        Ok(())
    }

    /// Compares the blocks that arrived, the last one in each place, with what the partner wrote.
    pub(crate) fn check<E: Bulk, S, W: Watch>(
        &mut self,
        am: &ActiveMessages<E, S, W>,
        blocks: u64,
        bytes: usize,
    ) -> Result<()> {
        self.checked += 1;
        let (source, to) = (self.partner as u64, am.rank() as u64);
        let places = places(am.endpoint(), bytes)?;
        let first = blocks.saturating_sub(places);
        self.arrived += blocks;
        self.compared += blocks - first;
        let mut expected = [0; CHUNK];
        for index in first..blocks {
            let salt = salt([self.turn, source, to, self.checked, sent_from(index, places)]);
            let block = target(am.endpoint(), index, bytes)?;
            for (at, len) in chunks(bytes) {
                am.endpoint().read_exposed(block + at, &mut self.chunk[..len])?;
                fill(&mut expected[..len], salt, at);
                let (got, expected) = (&self.chunk[..len], &expected[..len]);
                let flaw = Flaw::of_bytes(Some(self.partner), index, bytes, at, expected, got);
                let wrong = flaw.map(|flaw| Wrong { rank: am.rank(), flaw });
                self.wrong = self.wrong.take().or(wrong);
            }
        }
        Ok(())
    }
}

/// Offsets and lengths of a block's pieces.
fn chunks(bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes).step_by(CHUNK).map(move |at| (at, (bytes - at).min(CHUNK)))
}

/// Number of blocks of `bytes` bytes that a region holds; unlimited if `bytes` is 0.
fn places<E: Bulk>(endpoint: &E, bytes: usize) -> Result<u64> {
    let half = endpoint.exposed() / 2;
    let last = half.checked_sub(bytes);
    let last = last.ok_or(CommError::NotExposed { at: 0, len: bytes, exposed: half })?;
    let further = last.checked_div(bytes.next_multiple_of(ALIGNMENT));
    Ok(further.map_or(u64::MAX, |further| further as u64 + 1))
}

/// Place that block `index` is sent from: in round k, k places further on.
fn sent_from(index: u64, places: u64) -> u64 {
    (index % places + index / places) % places
}

/// Offset at which block `index` arrives.
#[inline]
pub(crate) fn target<E: Bulk>(endpoint: &E, index: u64, bytes: usize) -> Result<usize> {
    offset(endpoint, index, bytes, |index, places| index % places)
}

/// Offset from which block `index` is sent.
#[inline]
pub(crate) fn source_of<E: Bulk>(endpoint: &E, index: u64, bytes: usize) -> Result<usize> {
    Ok(endpoint.exposed() / 2 + offset(endpoint, index, bytes, sent_from)?)
}

/// Offset of a block in its region. In the first round it needs no division.
#[inline]
fn offset<E: Bulk>(
    endpoint: &E,
    index: u64,
    bytes: usize,
    place: impl FnOnce(u64, u64) -> u64,
) -> Result<usize> {
    let room = bytes.next_multiple_of(ALIGNMENT);
    let at = room * index as usize;
    if at + bytes <= endpoint.exposed() / 2 {
        return Ok(at);
    }
    Ok(room * place(index, places(endpoint, bytes)?) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_is_sent_from_all_places_and_a_block_from_another_than_in_the_round_before() {
        for places in 1..=9 {
            for round in 0..3 * places {
                let blocks = round * places..(round + 1) * places;
                let mut from: Vec<u64> =
                    blocks.clone().map(|index| sent_from(index, places)).collect();
                if round == 0 {
                    assert_eq!(from, blocks.clone().collect::<Vec<_>>());
                }
                from.sort_unstable();
                assert_eq!(from, (0..places).collect::<Vec<_>>(), "{places} {round}");
                // A place alone has no other.
                let moves = |index| sent_from(index, places) != sent_from(index + places, places);
                assert!(places == 1 || blocks.into_iter().all(moves), "{places} {round}");
            }
        }
    }
}
