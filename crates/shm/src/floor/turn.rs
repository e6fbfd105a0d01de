//! A computation that stands in for a message's software, before each store.

use std::hint::black_box;

/// An action with a computation of `BLOCKS` blocks.
pub(super) trait Turned {
    type Out;

    fn run<const BLOCKS: usize>(self) -> Self::Out;
}

/// Runs `of` with a computation of `blocks` blocks, at most 12.
pub(super) fn with_blocks<T: Turned>(blocks: u32, of: T) -> T::Out {
    macro_rules! run {
        ($($less:literal)*) => {
            match blocks {
                $($less => of.run::<$less>(),)*
                _ => of.run::<12>(),
            }
        };
    }
    run!(0 1 2 3 4 5 6 7 8 9 10 11)
}

/// Dependent arithmetic of `BLOCKS` blocks, each about a nanosecond. It has no branches and no
/// fences, so the processor executes it as it does a message's software, and may request a line
/// before it is done.
#[inline(always)]
pub(super) fn turn<const BLOCKS: usize>() {
    // Even an unused value would be stored and loaded again.
    if BLOCKS == 0 {
        return;
    }
    let mut value = black_box(1);
    macro_rules! blocks {
        ($($block:literal)*) => { $(if $block < BLOCKS { value = block(value); })* };
    }
    blocks!(0 1 2 3 4 5 6 7 8 9 10 11);
    black_box(value);
}

/// The exclusive or keeps the compiler from merging several products into one.
#[inline(always)]
fn block(value: u64) -> u64 {
    (value ^ 0x5555).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Blocks;

    impl Turned for Blocks {
        type Out = usize;

        fn run<const BLOCKS: usize>(self) -> usize {
            turn::<BLOCKS>();
            BLOCKS
        }
    }

    #[test]
    fn as_many_blocks_are_computed_as_were_asked_for_up_to_the_most() {
        for blocks in 0..=12 {
            assert_eq!(with_blocks(blocks, Blocks), blocks as usize);
        }
        assert_eq!(with_blocks(u32::MAX, Blocks), 12);
    }
}
