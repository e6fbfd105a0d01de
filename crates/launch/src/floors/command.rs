//! The words by which the leader names a floor.

use bandgap_comm::Word;

use bandgap_campaign::floors::{FLOORS, Floor};

/// First word's low nibble of a command that runs a floor; a job's is a kernel.
const FLOOR: Word = 0xE;

/// The command to run `floor`.
pub(super) fn words(floor: &Floor) -> [Word; 4] {
    let at = FLOORS.iter().position(|f| f.name == floor.name).unwrap_or(0) as Word;
    [FLOOR | at << 8, 0, 0, 0]
}

/// The floor that a command runs; `None` for another command.
pub(super) fn floor(words: [Word; 4]) -> Option<&'static Floor> {
    FLOORS.get((words[0] >> 8) as usize).filter(|_| words[0] & 0xF == FLOOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::QUIT;

    #[test]
    fn every_floor_comes_back_from_its_command() {
        for named in FLOORS {
            assert_eq!(floor(words(named)).unwrap().name, named.name);
        }
    }

    #[test]
    fn other_commands_are_no_floors() {
        // The end, kernel 1 of a job, a floor one past the last.
        for first in [QUIT, 1, FLOOR | (FLOORS.len() as Word) << 8] {
            assert!(floor([first, 0, 0, 0]).is_none(), "{first:x}");
        }
    }
}
