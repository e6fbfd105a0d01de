//! What a peer says in Active Messages: message passing, and letters.

use std::time::Duration;

use bandgap_comm::passing::{Passing, Tuning};
use bandgap_comm::{CommError, DeadlineWatch, Part, Waiting};
use bandgap_kernels::Executor;

use super::wire::{Still, endpoint, frames, record};
use crate::{Shape, Target, Verdict};

pub(super) const PASSING: Target = Target {
    name: "passing",
    about: "the words of message passing",
    shape: Shape::Bytes,
    real: &[],
    made: || said(true),
    wrong: || said(false),
    words: &[],
    read: passing,
    share: 8,
};

pub(super) const MAIL: Target = Target {
    name: "mail",
    about: "the words of letters, meetings and everything else that ranks handle",
    shape: Shape::Bytes,
    real: &[],
    made: || mailed(true),
    wrong: || mailed(false),
    words: &[],
    read: mail,
    share: 8,
};

/// Small slots, so that a few messages fill them.
const TUNING: Tuning = Tuning { chunk: 512, slots: 4, request: 64 };
const WATCH: DeadlineWatch = DeadlineWatch(Duration::ZERO);

/// A setting, and requests of every kind of message passing: those that fit to what the rank does, or the others. See
/// its handlers for their words.
fn said(right: bool) -> Vec<Vec<u8>> {
    let of = |setting: u8, records: &[&Vec<u8>]| {
        let records = records.iter().flat_map(|record| record.iter().copied());
        [setting].into_iter().chain(records).collect()
    };
    let header = |tag: u64, bytes: u64| tag | bytes << 32;
    let words = record(0, 0, &[header(0, 8), 1, 2, 3]);
    let slot = record(0, 1, &[header(0, 100), 0, 0]);
    let announced = record(0, 2, &[header(0, 0), 5000, 9, 0]);
    let later = record(0, 2, &[header(1, 1), 100, 9, 64]);
    let answer = record(0, 3, &[0, 0, 1]);
    let piece = record(0, 4, &[header(0, 512), 1, 0]);
    let back = record(0, 5, &[1]);
    let barrier = record(0, 6, &[header(0, 2)]);
    let stored = record(4, 0, &[0, 64]);
    if right {
        return vec![
            of(1, &[&slot]),
            of(0, &[&announced]),
            of(0, &[&later]),
            of(0, &[&barrier]),
            of(0, &[&stored]),
        ];
    }
    let all = [&words, &slot, &announced, &later, &answer, &piece, &back, &barrier, &stored];
    let mut examples: Vec<Vec<u8>> =
        [&words, &slot, &answer, &piece, &back].map(|one| of(0, &[one])).to_vec();
    examples.push(of(0, &all));
    examples.push(of(0, &[&announced, &piece, &piece]));
    examples
}

/// The same behind the handlers of kernels, and letters. To a rank that waits for letters only what is wrong in itself
/// is wrong.
fn mailed(right: bool) -> Vec<Vec<u8>> {
    let of = |records: &[Vec<u8>]| records.concat();
    let letter = record(0, 2, &[11, u64::from_le_bytes(*b"hello wo"), 0x0064_6c72, 0]);
    if !right {
        return vec![
            of(&[record(0, 2, &[u64::MAX, 0, 0, 0])]),
            of(&vec![record(0, 2, &[0, 0, 0, 0]); 70]),
            of(&[letter, record(1, 0, &[!7])]),
        ];
    }
    let long = [record(0, 2, &[40, 1, 2, 3]), record(0, 2, &[4, 5, 0, 0])];
    let mut examples = vec![
        of(&[record(0, 0, &[7]), record(0, 1, &[8])]),
        of(&[letter]),
        of(&long),
        of(&[record(0, 3, &[1 << 32 | 1])]),
    ];
    examples.extend([said(true), said(false)].concat().into_iter().map(|bytes| {
        let mut moved = bytes[1..].to_vec();
        moved.iter_mut().skip(1).step_by(37).for_each(|handler| *handler += 4);
        moved
    }));
    examples
}

fn passing(input: &[u8]) -> Verdict {
    let Some((&setting, records)) = input.split_first() else { return Verdict::Refused };
    let end = endpoint(frames(records), 1 << 16, TUNING.memory(2), 32);
    let Ok(mut ranks) = Passing::new(end, 0, &TUNING, Waiting::Spin, WATCH) else {
        return Verdict::Refused;
    };
    ranks.resize(8192);
    let run = |ranks: &mut Passing<_, _>| -> Result<(), CommError> {
        match setting % 4 {
            0 => ranks.recv(1, 0, Part::new(0, 5000)),
            1 => ranks.recv(1, 0, Part::new(16, 100)),
            2 => ranks.exchange(1, 0, Part::new(0, 4000), Part::new(4096, 4000)),
            _ => ranks.send(1, 0, Part::new(0, 5000)),
        }?;
        ranks.recv(1, 1, Part::new(0, 100))?;
        ranks.settle()
    };
    let ended = run(&mut ranks);
    assert_eq!(ranks.memory().len(), 8192);
    match ended {
        Ok(()) | Err(CommError::PeerGone { .. } | CommError::Deadline { .. }) => Verdict::Accepted,
        Err(_) => Verdict::Refused,
    }
}

fn mail(input: &[u8]) -> Verdict {
    let end = endpoint(frames(input), 1 << 16, TUNING.memory(2), 32);
    let Ok(mut rank) = Executor::new(end, Some((0, &TUNING)), Waiting::Spin, WATCH, Still) else {
        return Verdict::Refused;
    };
    loop {
        match rank.letter(1) {
            Ok(letter) => assert!(letter.len() <= 1 << 20),
            Err(CommError::PeerGone { .. } | CommError::Deadline { .. }) => {
                return Verdict::Accepted;
            }
            Err(_) => return Verdict::Refused,
        }
    }
}
