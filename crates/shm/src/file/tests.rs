use std::cell::RefCell;

use rustix::fs::SealFlags;

use super::*;
use crate::filter::{Calls, failing};
use crate::{Control, Exposed, Segment};

const PLAIN: MemfdFlags = MemfdFlags::CLOEXEC.union(MemfdFlags::ALLOW_SEALING);
const FIRST: MemfdFlags = PLAIN.union(MemfdFlags::NOEXEC_SEAL);

#[test]
fn a_file_that_nobody_executes_is_asked_for_first_and_an_old_kernel_without() {
    let asked = |answers: &[Result<u8, Errno>]| {
        let (mut flags, mut answers) = (Vec::new(), answers.iter().copied());
        let got = not_executable(|asked| {
            flags.push(asked);
            answers.next().unwrap()
        });
        (got, flags)
    };
    assert_eq!(asked(&[Ok(1)]), (Ok(1), vec![FIRST]));
    assert_eq!(asked(&[Err(Errno::INVAL), Ok(2)]), (Ok(2), vec![FIRST, PLAIN]));
    // What is refused for another reason is so without the flag too.
    let refused = (Err(Errno::PERM), vec![FIRST]);
    assert_eq!(asked(&[Err(Errno::PERM)]), refused);
    let twice = asked(&[Err(Errno::INVAL), Err(Errno::ACCESS)]);
    assert_eq!(twice, (Err(Errno::ACCESS), vec![FIRST, PLAIN]));
}

fn some_file() -> OwnedFd {
    std::fs::File::open("/dev/null").unwrap().into()
}

/// What comes of these answers: whether it can be sealed, or the error; and which places were tried.
fn tried(
    memfd: Result<(), Errno>,
    places: [Result<(), Errno>; 2],
) -> (Result<bool, String>, Vec<String>) {
    let asked = RefCell::new(Vec::new());
    let made = first_of(
        || memfd.map(|()| some_file()),
        |_| Ok(()),
        &["/first".into(), "/second".into()],
        |place| {
            let mut asked = asked.borrow_mut();
            asked.push(place.display().to_string());
            places[asked.len() - 1].map(|()| some_file())
        },
    );
    (made.map(|made| made.sealable).map_err(|error| error.to_string()), asked.into_inner())
}

#[test]
fn a_file_elsewhere_stands_in_only_where_one_in_memory_is_forbidden() {
    let ok = [Ok(()); 2];
    assert_eq!(tried(Ok(()), ok), (Ok(true), vec![]));
    for forbidden in [Errno::PERM, Errno::ACCESS, Errno::NOSYS] {
        assert_eq!(tried(Err(forbidden), ok), (Ok(false), vec!["/first".into()]));
    }
    // No descriptors, no memory: the error is the system's own.
    for want in [Errno::MFILE, Errno::NFILE, Errno::NOMEM] {
        let (made, asked) = tried(Err(want), ok);
        assert!(made.unwrap_err().contains("memfd_create") && asked.is_empty());
    }
}

#[test]
fn the_next_place_is_tried_and_at_last_every_reason_is_told() {
    let both = vec!["/first".to_owned(), "/second".to_owned()];
    for refused in [Errno::NOENT, Errno::OPNOTSUPP, Errno::NOSPC, Errno::ACCESS] {
        let (made, asked) = tried(Err(Errno::PERM), [Err(refused), Ok(())]);
        assert_eq!((made, asked), (Ok(false), both.clone()));
    }
    let nowhere = [Err(Errno::NOENT), Err(Errno::NOSPC)];
    let (made, asked) = tried(Err(Errno::NOSYS), nowhere);
    assert_eq!(asked, both);
    let told = made.unwrap_err();
    for part in ["memfd_create: Function not impl", "/first: No such file", "/second: No space"] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn a_file_that_stands_in_has_its_space_and_no_name() {
    let directory = std::env::temp_dir();
    let Ok(file) = reserved(&directory, 1 << 20) else {
        return; // No such files there.
    };
    let stat = rustix::fs::fstat(&file).unwrap();
    assert_eq!((stat.st_size, stat.st_nlink), (1 << 20, 0));
    assert!(stat.st_blocks * 512 >= 1 << 20, "{stat:?}");
    assert_eq!(stat.st_mode & 0o777, 0o600);
    let flags = rustix::io::fcntl_getfd(&file).unwrap();
    assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    assert!(reserved(Path::new("/nowhere"), 1).is_err());
}

/// On a kernel that knows the flag, what is made has it.
#[test]
fn what_is_made_cannot_be_executed_nor_is_it_in_the_way_of_seals() {
    let file = in_memory("test").unwrap();
    let seals = rustix::fs::fcntl_get_seals(&file).unwrap();
    let knows = rustix::fs::memfd_create("test", FIRST).is_ok();
    // F_SEAL_EXEC
    assert_eq!(seals.bits() & 0x20 != 0, knows);
    rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
}

/// What a run shares, made and opened again by descriptor.
fn share() -> Result<(), ShmError> {
    let again = |fd: std::os::fd::BorrowedFd<'_>| fd.try_clone_to_owned().unwrap();
    let here = Segment::create(2, 8)?;
    let there = Segment::from_fd(again(here.fd()))?;
    here.claim(1)?;
    assert!(matches!(there.claim(1), Err(ShmError::Attached { rank: 1 })));
    let control = Control::create()?;
    control.poison(1, 3);
    assert_eq!(Control::from_fd(again(control.fd()))?.poisoned(), Some((1, 3)));
    let here = Exposed::create(2, 1 << 20)?;
    here.write(1, (1 << 20) - 1, &[7]).unwrap();
    let (there, mut got) = (Exposed::from_fd(again(here.fd()))?, [0]);
    there.read(1, (1 << 20) - 1, &mut got).unwrap();
    assert_eq!(got, [7]);
    Ok(())
}

#[test]
fn a_run_shares_memory_where_the_system_forbids_files_in_memory() {
    for errno in [libc::EPERM, libc::ENOSYS, libc::EACCES] {
        let calls = Calls { number: libc::SYS_memfd_create, with: &[] };
        let Some(shared) = failing(calls, errno, || (share(), in_memory("test").err())) else {
            return; // No filters here.
        };
        assert_eq!(shared.1.map(Errno::raw_os_error), Some(errno));
        shared.0.unwrap();
    }
}

#[test]
fn a_run_shares_memory_on_a_kernel_that_does_not_know_the_flag() {
    let with = &[(1, FIRST.bits())];
    let calls = Calls { number: libc::SYS_memfd_create, with };
    let Some(shared) = failing(calls, libc::EINVAL, || (share(), in_memory("test"))) else {
        return; // No filters here.
    };
    shared.0.unwrap();
    let demanded = std::fs::read_to_string("/proc/sys/vm/memfd_noexec");
    if demanded.is_ok_and(|demanded| demanded.trim() == "0") {
        let seals = rustix::fs::fcntl_get_seals(shared.1.unwrap()).unwrap();
        assert_eq!(seals.bits() & 0x20, 0);
    }
}

#[test]
fn a_file_that_others_could_shrink_is_refused() {
    let path = std::env::temp_dir().join(format!("bandgap-test-{}", std::process::id()));
    let named = std::fs::File::options().read(true).write(true).create_new(true).open(&path);
    let named = OwnedFd::from(named.unwrap());
    let unsealed = rustix::fs::memfd_create("test", PLAIN).unwrap();
    for file in [named, unsealed] {
        rustix::fs::ftruncate(&file, 1 << 20).unwrap();
        let told = Segment::from_fd(file).unwrap_err().to_string();
        assert!(told.contains("shrink"), "{told}");
    }
    std::fs::remove_file(&path).unwrap();
}
