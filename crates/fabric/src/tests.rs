//! Comparing what is known of a library with its header files.

use std::io::Write;
use std::process::Command;

/// Where a field of a structure is, in C.
pub fn offset(of: &str, field: &str) -> String {
    format!("offsetof({of}, {field})")
}

/// Asserts that these expressions of C have these values, if a compiler and the headers are here.
pub fn compare(headers: &[&str], checks: &[(String, u64)]) {
    let include = |header: &&str| format!("#include <{header}>\n");
    let begin: String = headers.iter().chain(&["stddef.h"]).map(include).collect();
    let check = |(c, value): &(String, u64)| {
        format!("_Static_assert(({c}) == {}, \"\");\n", value.cast_signed())
    };
    let source = begin.clone() + &checks.iter().map(check).collect::<String>();
    let compile = |source: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("layout.c");
        std::fs::write(&path, source).unwrap();
        let cc = Command::new("cc").args(["-w", "-fsyntax-only"]).arg(&path).output();
        cc.map(|of| (of.status.success(), String::from_utf8_lossy(&of.stderr).into_owned()))
    };
    if !compile(&begin).is_ok_and(|(there, _)| there) {
        let _ = writeln!(std::io::stderr(), "SKIPPED: cc with {} is not installed", headers[0]);
        return;
    }
    let (right, said) = compile(&source).unwrap();
    assert!(right, "{said}");
}
