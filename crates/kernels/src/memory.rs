//! What the blocks of bulk transfers hold: bytes that tell who wrote them, when and where.
//!
//! A region holds a number of blocks of one length. A burst of more goes round: block i arrives in
//! place i mod that number, and is sent from one place further on in each round, so that the bytes
//! of a round differ from those that the round before left there.

use bandgap_comm::{ActiveMessages, Bulk, CommError, Rank, Watch};

/// Blocks begin at multiples of this.
const ALIGNMENT: usize = 64;
/// Words written and read at a time.
const CHUNK: usize = 512;

/// The two halves of a rank's exposed memory, and how often each changed hands in this job.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// Jobs begun: no two write the same bytes.
    jobs: u64,
    written: u64,
    checked: u64,
    chunk: Box<[u8; 8 * CHUNK]>,
}

impl Blocks {
    pub(crate) fn new() -> Self {
        Self { jobs: 0, written: 0, checked: 0, chunk: Box::new([0; 8 * CHUNK]) }
    }

    /// A job of transfers begins; every rank counts those of all.
    pub(crate) fn begin(&mut self) {
        self.jobs += 1;
        (self.written, self.checked) = (0, 0);
    }

    /// Writes the places that `blocks` blocks are sent from.
    pub(crate) fn refresh<E: Bulk, S, W: Watch>(
        &mut self,
        am: &mut ActiveMessages<E, S, W>,
        blocks: u64,
        bytes: usize,
    ) -> Result<(), CommError> {
        self.written += 1;
        let salt = salt(am.rank(), self.jobs, self.written);
        for place in 0..blocks.min(places(am.endpoint(), bytes)?) {
            let block = source(am.endpoint(), place, bytes)?;
            for (at, len) in chunks(bytes) {
                fill(&mut self.chunk[..len], salt, place, at);
                am.write_exposed(block + at, &self.chunk[..len])?;
            }
        }
        Ok(())
    }

    /// Compares the blocks that arrived from `peer`, the last ones in their places, with what it
    /// wrote.
    pub(crate) fn check<E: Bulk, S, W: Watch>(
        &mut self,
        am: &ActiveMessages<E, S, W>,
        peer: Rank,
        blocks: u64,
        bytes: usize,
    ) -> Result<(), CommError> {
        self.checked += 1;
        let salt = salt(peer, self.jobs, self.checked);
        let mut expected = [0; 8 * CHUNK];
        let places = places(am.endpoint(), bytes)?;
        for index in blocks.saturating_sub(places)..blocks {
            let block = target(am.endpoint(), index, bytes)?;
            let from = sent_from(index, places);
            for (at, len) in chunks(bytes) {
                am.read_exposed(block + at, &mut self.chunk[..len])?;
                fill(&mut expected[..len], salt, from, at);
                if let Some(first) = differs(&self.chunk[..len], &expected[..len]) {
                    let (got, wanted) = (self.chunk[first], expected[first]);
                    let first = at + first;
                    return Err(CommError::Garbage {
                        peer,
                        what: format!(
                            "byte {first} of block {index} of {bytes} bytes: expected \
                             {wanted:#04x}, got {got:#04x}"
                        ),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Where two equally long buffers differ first.
pub(crate) fn differs(a: &[u8], b: &[u8]) -> Option<usize> {
    if a == b { None } else { a.iter().zip(b).position(|(a, b)| a != b) }
}

/// Pieces of a block.
fn chunks(bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes).step_by(8 * CHUNK).map(move |at| (at, (bytes - at).min(8 * CHUNK)))
}

/// How many blocks of `bytes` bytes a region holds; those without bytes all have room.
fn places<E: Bulk>(endpoint: &E, bytes: usize) -> Result<u64, CommError> {
    let half = endpoint.exposed() / 2;
    let last = half.checked_sub(bytes);
    let last = last.ok_or(CommError::NotExposed { at: 0, len: bytes, exposed: half })?;
    let further = last.checked_div(bytes.next_multiple_of(ALIGNMENT));
    Ok(further.map_or(u64::MAX, |further| further as u64 + 1))
}

/// The place that block `index` is sent from: in round k the one k further on.
fn sent_from(index: u64, places: u64) -> u64 {
    (index % places + index / places) % places
}

/// Offset of the block `index` that arrives.
#[inline]
pub(crate) fn target<E: Bulk>(endpoint: &E, index: u64, bytes: usize) -> Result<usize, CommError> {
    offset(endpoint, index, bytes, |index, places| index % places)
}

/// Offset of the block `index` that is sent.
#[inline]
pub(crate) fn source<E: Bulk>(endpoint: &E, index: u64, bytes: usize) -> Result<usize, CommError> {
    Ok(endpoint.exposed() / 2 + offset(endpoint, index, bytes, sent_from)?)
}

/// Offset of a block in its region: in the first round at its own place, without a division.
#[inline]
fn offset<E: Bulk>(
    endpoint: &E,
    index: u64,
    bytes: usize,
    place: impl FnOnce(u64, u64) -> u64,
) -> Result<usize, CommError> {
    let room = bytes.next_multiple_of(ALIGNMENT);
    let at = room * index as usize;
    if at + bytes <= endpoint.exposed() / 2 {
        return Ok(at);
    }
    Ok(room * place(index, places(endpoint, bytes)?) as usize)
}

pub(crate) fn salt(rank: Rank, job: u64, turn: u64) -> u64 {
    (rank as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ job.wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
        ^ turn.wrapping_mul(0x1656_67B1_9E37_79F9)
}

/// The bytes of a block from `at` on, a multiple of 8: no word is like its neighbour, and none is
/// like the same of another block, turn, job or rank.
pub(crate) fn fill(into: &mut [u8], salt: u64, index: u64, at: usize) {
    const STEP: u64 = 0xD6E8_FEB8_6659_FD93;
    let k = (index << 32).wrapping_add(at as u64 / 8);
    let mut word = salt.wrapping_add(k.wrapping_mul(STEP));
    let mut words = into.chunks_exact_mut(8);
    for room in &mut words {
        room.copy_from_slice(&word.to_le_bytes());
        word = word.wrapping_add(STEP);
    }
    let rest = words.into_remainder();
    rest.copy_from_slice(&word.to_le_bytes()[..rest.len()]);
}
