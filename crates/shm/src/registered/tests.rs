use std::collections::VecDeque;
use std::time::Instant;

use rustix::fs::MemfdFlags;

use super::*;

const SECRET: Secret = *b"of this run only";

/// A meeting of rank 0 with a rank 1 that tells these, or what rank 0 tells.
struct Meeting(VecDeque<Option<String>>);

impl Rendezvous for Meeting {
    fn rank(&self) -> Rank {
        0
    }
    fn size(&self) -> usize {
        2
    }
    fn secret(&self) -> [u8; 16] {
        SECRET
    }
    fn deadline(&self) -> Instant {
        Instant::now()
    }
    fn exchange(&mut self, told: String) -> Result<Vec<String>, CommError> {
        let other = self.0.pop_front().flatten().unwrap_or_else(|| told.clone());
        Ok(vec![told, other])
    }
}

fn met(tells: [Option<String>; 2]) -> Result<Registered, CommError> {
    Registered::meet(&mut Meeting(tells.into()), 8192)
}

#[test]
fn what_a_rank_writes_its_peer_reads_at_the_offset_told() {
    let mut ranks = Registered::among(2, 10_000).unwrap();
    let own = ranks[1].take().unwrap();
    assert!(own.len() >= 10_000 && own.iter().all(|byte| *byte == 0));
    assert!(ranks[1].take().is_none());
    own[4097..4100].copy_from_slice(&[7, 8, 9]);
    let at = ranks[1].offset(&own[4097..4100]).unwrap();
    let mut got = [0; 5];
    ranks[0].read(1, at - 1, &mut got).unwrap();
    assert_eq!((at, got), (4097, [0, 7, 8, 9, 0]));
    // Elsewhere, or beyond the end: not in it.
    assert_eq!(ranks[1].offset(&[0; 8]), None);
    assert_eq!(ranks[0].offset(&own[..8]), None);
    let whole = ranks[1].offset(own);
    assert_eq!(whole, Some(0));
}

#[test]
fn an_offset_that_is_not_the_peers_is_an_error_that_names_it() {
    let ranks = Registered::among(2, 8192).unwrap();
    let mut into = [1; 100];
    for at in [8093, 8192, 8193, u64::MAX, u64::MAX - 50, 1 << 63] {
        let error = ranks[0].read(1, at, &mut into).unwrap_err();
        let CommError::Garbage { peer: 1, what } = &error else { panic!("{error}") };
        let named = ["100 bytes", &format!("offset {at} "), "8192 bytes"];
        assert!(named.iter().all(|number| what.contains(number)), "{what}");
    }
    ranks[0].read(1, 8092, &mut into).unwrap();
    assert_eq!(into, [0; 100]);
    ranks[0].read(1, 8192, &mut []).unwrap();
    for nobody in [0, 2, usize::MAX] {
        let error = ranks[0].read(nobody, 0, &mut into).unwrap_err();
        assert!(matches!(error, CommError::NoSuchPeer { size: 2, .. }), "{error}");
    }
}

#[test]
fn no_peer_writes_it_through_its_file() {
    let (file, own) = create(4096, &SECRET).unwrap();
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let again = File::options().read(true).write(true).open(path).unwrap();
    for file in [&file, &again] {
        assert!(map(file, MEMORY_AT, ProtFlags::WRITE | ProtFlags::READ).is_err());
        assert!(file.write_at(&[1], MEMORY_AT as u64).is_err());
        assert!(file.set_len(0).is_err() && file.set_len(1 << 30).is_err());
        assert!(rustix::fs::fcntl_add_seals(file, SealFlags::GROW).is_err());
        // What is mapped to read stays so.
        let base = map(file, MEMORY_AT, ProtFlags::READ).unwrap();
        let writable = rustix::mm::MprotectFlags::READ | rustix::mm::MprotectFlags::WRITE;
        // SAFETY: these addresses were mapped just now, and nothing else refers to them.
        let changed = unsafe { rustix::mm::mprotect(base.as_ptr().cast(), MEMORY_AT, writable) };
        assert!(changed.is_err());
        // SAFETY: as above.
        unsafe { rustix::mm::munmap(base.as_ptr().cast(), MEMORY_AT) }.unwrap();
    }
    own.fill(7);
    let mut byte = [0];
    file.read_exact_at(&mut byte, MEMORY_AT as u64).unwrap();
    assert_eq!(byte, [7]);
}

#[test]
fn ranks_that_map_each_other_have_it() {
    let mut registered = met([None, None]).unwrap();
    assert_eq!(registered.allowed(), Ok(()));
    let own = registered.take().unwrap();
    own[5] = 3;
    let mut got = [0];
    // Rank 1 is rank 0 here.
    registered.read(1, 5, &mut got).unwrap();
    assert_eq!(got, [3]);
}

#[test]
fn why_there_is_none_is_told_and_the_same_for_all() {
    let process = process::id();
    let other = File::open("/dev/null").unwrap();
    let unsealed = rustix::fs::memfd_create("other", MemfdFlags::ALLOW_SEALING).unwrap();
    let (foreign, _) = create(4096, &[9; 16]).unwrap();
    let (short, _) = create(4096, &SECRET).unwrap();
    let told = |file: i32| Some(format!("{process} {file}"));
    let reasons = [
        ([Some("none: no such call".into()), None], "no such call"),
        ([None, Some("none: its own trouble".into())], "its own trouble"),
        ([told(i32::MAX), None], "No such file"),
        ([Some(format!("{} 0", i32::MAX)), None], "No such file"),
        ([told(other.as_raw_fd()), None], "not registered memory"),
        ([told(unsealed.as_raw_fd()), None], "not registered memory"),
        ([told(foreign.as_raw_fd()), None], "not registered memory"),
        ([told(short.as_raw_fd()), None], "8192 bytes, and 12288 are needed"),
    ];
    for (tells, why) in reasons {
        let mut registered = met(tells).unwrap();
        let reason = registered.allowed().unwrap_err().to_owned();
        assert!(reason.contains(why), "{reason}");
        assert!(registered.take().is_none() && registered.offset(&[1]).is_none());
        let error = registered.read(1, 0, &mut [0]).unwrap_err();
        assert!(matches!(&error, CommError::NotRegistered { reason: told } if *told == reason));
    }
    for garbage in ["", "7", "seven 8", "-1 8"] {
        let error = met([Some(garbage.to_owned()), None]).unwrap_err();
        assert!(matches!(error, CommError::Garbage { peer: 1, .. }), "{error}");
    }
}

#[test]
fn what_would_wait_for_a_writer_is_refused_at_once() {
    let told = |file: &dyn AsRawFd| Some(format!("{} {}", process::id(), file.as_raw_fd()));
    // Opening an anonymous pipe never waits, so a missing flag shows here, not as a test without end.
    let (pipe, _) = rustix::pipe::pipe().unwrap();
    let opened = open(&format!("/proc/self/fd/{}", pipe.as_raw_fd())).unwrap();
    assert!(rustix::fs::fcntl_getfl(&opened).unwrap().contains(OFlags::NONBLOCK));
    // A FIFO that nobody writes to.
    let path = std::env::temp_dir().join(format!("bandgap-registered-{}", process::id()));
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &path, kind, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let fifo = open(path.to_str().unwrap());
    std::fs::remove_file(&path).unwrap();
    for file in [&pipe as &dyn AsRawFd, &fifo.unwrap()] {
        let registered = met([told(file), None]).unwrap();
        let reason = registered.allowed().unwrap_err();
        assert!(reason.contains("not registered memory"), "{reason}");
    }
}
