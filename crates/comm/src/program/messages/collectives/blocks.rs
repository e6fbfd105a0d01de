//! Division of a part into blocks as equal as possible.

use std::ops::Range;

use crate::Part;

/// A part in consecutive blocks. If the units do not divide evenly, the first blocks are one unit
/// longer than the others; blocks may be empty.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    part: Part,
    /// Bytes that are never separated.
    unit: usize,
    /// Units of each block.
    each: usize,
    /// Number of blocks that have one more unit.
    longer: usize,
}

impl Blocks {
    /// Divides `part`, which consists of whole units, into `count` blocks.
    #[inline]
    pub fn of(part: Part, unit: usize, count: usize) -> Self {
        let units = part.len / unit;
        Self { part, unit, each: units / count, longer: units % count }
    }

    /// Offset of block `index` in the part.
    #[inline]
    fn begin(self, index: usize) -> usize {
        self.unit * (index * self.each + index.min(self.longer))
    }

    /// One block.
    #[inline]
    pub fn one(self, index: usize) -> Part {
        self.all(index..index + 1)
    }

    /// Consecutive blocks.
    #[inline]
    pub(super) fn all(self, blocks: Range<usize>) -> Part {
        let (begin, end) = (self.begin(blocks.start), self.begin(blocks.end));
        Part::new(self.part.at + begin, end - begin)
    }
}

/// Why `units` units cannot be divided into `blocks` blocks, if there are too few.
pub(super) fn too_few(blocks: usize, units: usize, unit: &str) -> Option<String> {
    let some_empty = units < blocks;
    some_empty.then(|| format!("it needs {blocks} blocks, but there are only {units} {unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_part_in_order_and_differ_by_one_unit_at_most() {
        for (len, unit) in [(0, 1), (1, 1), (7, 1), (24, 8), (800, 8), (20_000, 1)] {
            for count in 1..=9 {
                let blocks = Blocks::of(Part::new(5, len), unit, count);
                let each: Vec<Part> = (0..count).map(|index| blocks.one(index)).collect();
                assert_eq!(each[0].at, 5);
                assert!(each.windows(2).all(|pair| pair[0].end() == pair[1].at));
                assert_eq!(each[count - 1].end(), 5 + len);
                let (longest, shortest) = (each[0].len, each[count - 1].len);
                assert!(each.iter().all(|one| one.len.is_multiple_of(unit)));
                assert!(longest - shortest <= unit, "{longest} {shortest}");
                assert_eq!(blocks.all(0..count), Part::new(5, len));
            }
        }
    }
}
