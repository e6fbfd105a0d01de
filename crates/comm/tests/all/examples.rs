//! The examples do what they say.

#[allow(dead_code)]
#[path = "../../examples/remote_memory.rs"]
mod remote_memory;

#[test]
fn remote_memory_is_incremented_and_read() {
    // Rank r adds r to its own word ten times, and 1 to the word of all, as three ranks do.
    let expected =
        ["rank 0 holds [30, 10, 20, 30]", "rank 1 read 10", "rank 2 read 20", "rank 3 read 30"];
    assert_eq!(remote_memory::run().unwrap(), expected);
}
