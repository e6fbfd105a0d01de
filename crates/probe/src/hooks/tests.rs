use std::ptr::null_mut;

use super::*;
use crate::headers::{compare, offset};

#[test]
fn layouts_are_those_of_the_headers() {
    let own = |name: &&str| offset("uct_iface_ops_t", &format!("ep_{name}"));
    let operations = PASSES.iter().map(own).zip(OPERATIONS.map(|word| 8 * word as u64));
    let memory = 8 * PARAMETERS as u64;
    let others = [
        (offset("uct_iface_t", "ops"), 0),
        (offset("ucp_request_param_t", "op_attr_mask"), 0),
        (offset("ucp_request_param_t", "cb"), 8 * AT_CALLBACK as u64),
        (offset("ucp_request_param_t", "memh"), memory),
        ("sizeof(ucp_request_param_t)".to_owned(), memory + 8),
        ("UCP_OP_ATTR_FIELD_CALLBACK".to_owned(), HAS_CALLBACK as u64),
        ("UCP_OP_ATTR_FIELD_MEMH".to_owned(), HAS_MEMORY as u64),
        ("UCS_ERR_NO_RESOURCE".to_owned(), NO_RESOURCE as u64),
        (offset("uct_iface_params_t", "open_mode"), 8 * MODE as u64),
        (offset("uct_iface_params_t", "mode.device.tl_name"), 8 * TRANSPORT as u64),
        ("UCT_IFACE_OPEN_MODE_DEVICE".to_owned(), 1),
    ];
    let checks: Vec<_> = operations.chain(others).collect();
    compare(&["ucp/api/ucp.h", "uct/api/uct.h", "ucs/async/async_fwd.h", "uct/api/tl.h"], &checks);
}

unsafe extern "C" fn opens(_: Out, _: Out, _: In, with: In, new: *mut usize) -> i8 {
    // SAFETY: as of UCT.
    unsafe { *new = with.expose_provenance() };
    0
}

extern "C" fn sets(_: usize, _: u8, _: usize, _: usize, _: u32) -> i8 {
    0
}

extern "C" fn closes(_: usize) {}

#[test]
fn interfaces_are_known_by_their_operations_until_they_are_closed() {
    REAL.open.store(opens as *const () as usize, Relaxed);
    REAL.set.store(sets as *const () as usize, Relaxed);
    REAL.close.store(closes as *const () as usize, Relaxed);
    // Each kind on three devices, and more kinds than there are. Two transports have the same operations.
    let tables: Vec<[usize; 10]> = (0..3 * (KINDS + 2)).map(|of| [1 + of / 6; 10]).collect();
    let how = [c"posix", c"sysv"].map(|name| {
        let mut how = [1; TRANSPORT + 1];
        how[TRANSPORT] = name.as_ptr().expose_provenance();
        how
    });
    let mut new = 0;
    let all = || TABLES.lock().unwrap().clone();
    for (at, table) in tables.iter().enumerate() {
        let how = how[at / 3 % 2].as_ptr().cast();
        // SAFETY: of the types above.
        unsafe { open(null_mut(), null_mut(), how, table.as_ptr().cast(), &mut new) };
        // SAFETY: as above.
        unsafe { set(table.as_ptr().addr(), 2, 1, 0, 0) };
    }
    let expected: Vec<_> =
        tables.iter().map(|of| of.as_ptr().addr()).zip((0..3 * KINDS).map(|of| of / 3)).collect();
    assert_eq!(all(), expected);
    let over: Vec<u32> = REAL.over[..2].iter().map(|of| of.load(Relaxed)).collect();
    assert_eq!(over, [1 << 12, 1 << 13]);
    // SAFETY: as above.
    tables.iter().skip(1).for_each(|of| unsafe { close(of.as_ptr().addr()) });
    assert_eq!(all(), expected[..1]);
    let known = |of: &&&Handler| tables.iter().any(|table| table.as_ptr().addr() == of.interface);
    assert_eq!(HANDLERS.lock().unwrap().iter().filter(known).count(), 1);
    // SAFETY: as above.
    unsafe { close(expected[0].0) };
    assert_eq!(all(), []);
}

/// Says what is in the ninth word.
unsafe extern "C" fn receives(_: Out, _: Out, _: usize, _: u64, _: u64, how: In) -> isize {
    // SAFETY: hooks give a copy that is longer.
    unsafe { *how.cast::<isize>().add(PARAMETERS) }
}

#[test]
fn parameters_are_read_as_far_as_their_mask_says() {
    const PAGE: usize = 4096;
    REAL.words[5].store(receives as *const () as usize, Relaxed);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: two pages of its own, of which the second is then no memory.
    let end = unsafe {
        let both = libc::PROT_READ | libc::PROT_WRITE;
        let pages = libc::mmap(null_mut(), 2 * PAGE, both, flags, -1, 0);
        let end = pages.byte_add(PAGE);
        assert_eq!(libc::munmap(end, PAGE), 0);
        end.cast::<usize>()
    };
    let receive = ucp_recv::<{ kind::SEEN }>;
    for (mask, words) in [(0, PARAMETERS), (HAS_MEMORY, PARAMETERS + 1)] {
        // SAFETY: the last words of the page.
        let said = unsafe {
            let given = end.sub(words);
            given.write(mask);
            end.sub(1).write(7);
            receive(null_mut(), null_mut(), 0, 0, 0, given.cast())
        };
        assert_eq!(said, if mask == 0 { 0 } else { 7 });
    }
}
