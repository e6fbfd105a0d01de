//! What GOAL text is read, and what is refused, with its place; binary GOAL and gzip.

use std::io::Write;

use bandgap_sim::{ANY_PEER, ANY_TAG, GoalError, Loggops, Verb, Wrong, read_goal, sensitivity};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::sample::Index;

use super::{goal, replay_goal, schedule};
use crate::damaged::{cases, damaged};

#[test]
fn a_superset_is_read() {
    let strict = "num_ranks 3\nrank 0 {\nl1: send 8b to 2 tag 1 cpu 1 nic 2\nl2: calc 5\nl3: calc 7 cpu 1\n\
                  l2 requires l1\nl3 irequires l2\nl3 requires l1\n}\nrank 2 {\nr: recv 8b from 0 tag 1\n}\n";
    let free = "/* of two\n lines */ num_ranks 3 // three\r\n\r\nrank 2{ r: recv 8b from 0 tag 1 }\r\n  rank 0\t{\r\n\
                l2 requires l1 // before its label\r\n l3 irequires l2\r\n\tl1 : send 8b to 2 nic 2 cpu 1 tag 1 /* how */\r\n\
                l2: calc 5 /* a\nb */\nl3: calc 7 cpu 1 nic 0\n l3 requires l1\n}";
    let (strict, free) = (goal(strict), goal(free));
    for rank in 0..3 {
        assert_eq!(strict.of_rank(rank), free.of_rank(rank), "{rank}");
    }
    let run = |goal| replay_goal(goal, &Loggops::default()).unwrap();
    assert_eq!(run(&strict), run(&free));
    assert_eq!((strict.size(), strict.operations()), (3, 4));
}

#[test]
fn ranks_without_operations_need_no_memory() {
    let text = "num_ranks 4294967294\nrank 4294967293 {\ncalc 1\n}\nrank 7 {\ncalc 2\n}\n";
    let goal = goal(text);
    assert_eq!((goal.size(), goal.operations()), (4_294_967_294, 2));
    assert_eq!([7, 8, 4_294_967_293].map(|rank| goal.of_rank(rank).len()), [1, 0, 1]);
    assert!(goal.replay_bytes(true) < 1 << 20);
    let (replayed, of) = sensitivity(&goal, &Loggops::default()).unwrap();
    assert_eq!((replayed.ends, of.path.rank), (vec![(7, 2000), (4_294_967_293, 1000)], 7));
    // One that is sent to counts.
    let text = "num_ranks 4294967294\nrank 1 {\nsend 8b to 9\nsend 8b to 9\nrecv 8b from -1\n}\n";
    let goal = read_goal(text.as_bytes()).unwrap();
    assert!(goal.active().eq([1, 9]));
    let error = replay_goal(&goal, &Loggops::default()).unwrap_err();
    assert!(matches!(error, GoalError::Unmatched(left) if left.len() == 3));
}

#[test]
fn numbers_have_64_bits() {
    let text = "num_ranks 2\nrank 0 {\nrecv 9223372036854775807b from -1 tag 18446744073709551615\n\
                recv 1b from 1 tag -1\nrecv 1b from 1 tag 18446744073709551614\nl.1_a: calc 3\n}\n";
    let goal = goal(text);
    let of = goal.of_rank(0);
    assert_eq!((of[0].size, of[0].peer, of[0].tag), (i64::MAX as u64, ANY_PEER, ANY_TAG));
    assert_eq!((of[1].tag, of[2].tag), (ANY_TAG, u64::MAX - 1));
    assert_eq!((of[3].verb, of[3].size), (Verb::Compute, 3));
}

#[test]
fn labels_may_be_long_or_be_called_as_operations_are() {
    let name = "a_label_of_more_than_fifteen_bytes";
    let text = format!(
        "num_ranks 1\nrank 0 {{\n{name}1: calc 1\n{name}2: calc 1\nsend: calc 1\nsend requires {name}2\n\
         {name}2 requires {name}1\n}}\n"
    );
    let replayed = replay_goal(&goal(&text), &Loggops::default()).unwrap();
    assert_eq!(replayed.end(), 3000);
}

#[test]
fn a_dependency_may_be_stated_twice() {
    let text = "num_ranks 1\nrank 0 {\na: calc 5\nb: calc 6\nb requires a\nb requires a\n}\n";
    assert_eq!(replay_goal(&goal(text), &Loggops::default()).unwrap().end(), 11_000);
}

#[test]
fn what_is_wrong_is_told_with_line_and_column() {
    let inside = |line: &str| format!("num_ranks 2\nrank 0 {{\na: calc 1\n{line}\n}}\n");
    let label = |of: &str| Wrong::UnknownLabel(of.to_owned());
    let size = Wrong::TooLarge(i64::MAX as u64);
    for (line, column, wrong) in [
        ("  a requires nobody", 14, Some(label("nobody"))),
        ("nobody irequires a", 1, Some(label("nobody"))),
        (" a: calc 2", 2, Some(Wrong::LabelTwice("a".to_owned()))),
        ("send 9223372036854775808b to 1", 6, Some(size.clone())),
        ("calc 99999999999999999999999", 6, Some(size)),
        ("send 8b to 2", 12, Some(Wrong::RankBeyond(2, 2))),
        ("recv 8b from 5", 14, Some(Wrong::RankBeyond(5, 2))),
        ("send 8b to 1 tag 18446744073709551616", 18, Some(Wrong::TooLarge(u64::MAX))),
        ("calc 8 cpu 256", 12, Some(Wrong::TooLarge(255))),
        ("b: wait 8", 4, None),
        ("put 8b to 1", 1, None),
        ("send 8b to -1", 12, None),
        ("send 8 to 1", 6, None),
        ("send 8b from 1", 9, None),
        ("calc 8b", 6, None),
        ("calc -8", 6, None),
        ("calc 8 tag 1", 8, None),
        ("a requires a a", 14, None),
        ("{", 1, None),
        ("b:", 3, None),
        (": calc 1", 1, None),
    ] {
        let error = read_goal(inside(line).as_bytes()).expect_err(line);
        let GoalError::Syntax(at, of, is) = error else { panic!("{line}") };
        assert_eq!((at, of), (4, column), "{line}: {is}");
        match wrong {
            Some(wrong) => assert_eq!(is, wrong, "{line}"),
            None => assert!(matches!(is, Wrong::Expected(..)), "{line}: {is}"),
        }
    }
    for (text, line, column, wrong) in [
        ("num_ranks 2\nrank 2 {\n}\n", 2, 6, Wrong::RankBeyond(2, 2)),
        ("num_ranks 2\nrank 1 {\n}\n\n rank 1 {\n}\n", 5, 7, Wrong::RankTwice(1)),
        ("num_ranks 2\nrank 1 {\n", 3, 1, Wrong::Ends),
        ("", 1, 1, Wrong::Ends),
        ("num_ranks 1 /*", 2, 1, Wrong::Ends),
    ] {
        let error = read_goal(text.as_bytes()).expect_err(text);
        let GoalError::Syntax(at, of, is) = error else { panic!("{text}") };
        assert_eq!((at, of, is), (line, column, wrong), "{text}");
    }
    for text in [
        "rank 0 {\n}\n",
        "num_ranks x\n",
        "num_ranks 1\nrank 0 {\n}\ncalc 5\n",
        "\0\0\0\0\0\0\0\0\0",
    ] {
        let error = read_goal(text.as_bytes()).expect_err(text);
        assert!(matches!(error, GoalError::Syntax(_, _, Wrong::Expected(..))), "{error}");
    }
}

/// What `txt2bin` makes of "num_ranks 2", rank 0 { a: calc 100; s: send 8b to 1 tag 3; s requires a; s irequires a },
/// rank 1 { r: recv 8b from -1 tag -1 }.
fn binary() -> Vec<u8> {
    let node = |needs: u32, verb: u8, peer: u32, size: u64, tag: u32, spans: [u32; 4]| {
        let mut bytes = needs.to_le_bytes().to_vec();
        bytes.push(verb);
        bytes.extend(peer.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(tag.to_le_bytes());
        bytes.extend([0, 0]);
        spans.iter().for_each(|span| bytes.extend(span.to_le_bytes()));
        bytes
    };
    let words =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let first = [
        words(&[2, 1, 0]),
        node(0, 3, 0, 100, 0, [1, 0, 1, 1]),
        node(2, 1, 1, 8, 3, [0, 2, 0, 2]),
        words(&[1, 1]),
    ]
    .concat();
    let second = [words(&[1, 1, 0]), node(0, 2, u32::MAX, 8, u32::MAX, [0, 0, 0, 0])].concat();
    let begin = 4 + 2 + 4 * 8;
    let middle = begin + first.len() as u64;
    let mut all = 4223_u64.to_le_bytes().to_vec();
    all.extend(2_u32.to_le_bytes());
    all.extend([0, 0]);
    for at in [begin, middle, middle, middle + second.len() as u64] {
        all.extend(at.to_le_bytes());
    }
    [all, first, second].concat()
}

#[test]
fn binary_goal_and_gzip_are_read() {
    let text = "num_ranks 2\nrank 0 {\na: calc 100\ns: send 8b to 1 tag 3\ns requires a\ns irequires a\n}\n\
                rank 1 {\nr: recv 8b from -1 tag -1\n}\n";
    let expected = replay_goal(&goal(text), &Loggops::default()).unwrap();
    let zipped = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    for bytes in [binary(), zipped(&binary()), zipped(text.as_bytes())] {
        let read = read_goal(&bytes[..]).unwrap();
        assert_eq!(replay_goal(&read, &Loggops::default()).unwrap(), expected);
        assert_eq!(read.of_rank(1), goal(text).of_rank(1));
    }
}

#[test]
fn damaged_files_are_refused() {
    let whole = binary();
    for length in 8..whole.len() {
        let error = read_goal(&whole[..length]).expect_err("cut");
        assert!(matches!(error, GoalError::Binary(_, Wrong::Ends)), "{length}: {error}");
    }
    for (at, value) in [(8 + 4 + 2, 1), (8 + 38 + 12 + 4, 9), (8 + 38 + 12 + 12 + 4, 255)] {
        let mut bytes = whole.clone();
        bytes[at] = value;
        assert!(matches!(read_goal(&bytes[..]), Err(GoalError::Binary(..))), "{at}");
    }
    let zipped = std::fs::read(super::folder().join("sweep3d_2x2.goal.gz")).unwrap();
    assert!(matches!(read_goal(&zipped[..9000]), Err(GoalError::Io(_))));
    assert_eq!(schedule("sweep3d_2x2.goal.gz").operations(), 23_940);
}

fn any_schedule() -> impl Strategy<Value = String> {
    let names =
        ["12_overlap_receive_posted", "16_any_source_any_tag", "14_two_nics", "19_dissemination_3"];
    let read =
        |name| std::fs::read_to_string(super::folder().join(format!("{name}.goal"))).unwrap();
    damaged(names.map(read).to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(256), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_schedule_is_replayed_or_refused(text in any_schedule()) {
        if let Ok(goal) = read_goal(text.as_bytes()) {
            let end = replay_goal(&goal, &Loggops::default()).map(|of| of.end());
            let of = sensitivity(&goal, &Loggops::default());
            let path_end = of.map(|(_, of)| of.path.steps.last().map_or(0, |step| step.end));
            prop_assert_eq!(path_end.map_err(|e| e.to_string()), end.map_err(|e| e.to_string()));
        }
    }

    #[test]
    fn a_damaged_binary_schedule_is_replayed_or_refused(changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..4)) {
        let mut bytes = binary();
        for (at, value) in changes {
            *at.get_mut(&mut bytes) = value;
        }
        if let Ok(goal) = read_goal(&bytes[..]) {
            let _ = replay_goal(&goal, &Loggops::default());
        }
    }
}
