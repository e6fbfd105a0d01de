//! One reader, named by `READER`, under libFuzzer.
#![no_main]

use std::sync::OnceLock;

use bandgap_fuzz::{Target, target};

/// The reader that is asked for.
fn reader() -> &'static Target {
    static READER: OnceLock<&Target> = OnceLock::new();
    READER.get_or_init(|| {
        let name = std::env::var("READER").unwrap_or_default();
        target(&name).unwrap_or_else(|| panic!("READER='{name}' is none"))
    })
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let _ = (reader().read)(input);
});
