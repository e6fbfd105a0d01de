//! Every dependency may be used under a licence that deny.toml allows.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The licences that deny.toml allows.
fn allowed() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let rules: toml::Table = text.parse().unwrap();
    let allow = rules["licenses"]["allow"].as_array().unwrap();
    allow.iter().map(|licence| licence.as_str().unwrap().to_owned()).collect()
}

/// Whether an SPDX expression leaves a choice that is allowed. Old manifests write `/` for OR.
fn allows(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace('/', " OR ");
    let parts = |text: &str, word: &str| -> Vec<String> {
        let (mut parts, mut deep) = (vec![String::new()], 0);
        for token in text.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
            deep += i32::from(token == "(") - i32::from(token == ")");
            match token == word && deep == 0 {
                true => parts.push(String::new()),
                false => *parts.last_mut().unwrap() += &format!("{token} "),
            }
        }
        parts.iter().map(|part| part.trim().to_owned()).collect()
    };
    let any = parts(&expression, "OR");
    if any.len() > 1 {
        return any.iter().any(|part| allows(part, allowed));
    }
    let all = parts(&expression, "AND");
    if all.len() > 1 {
        return all.iter().all(|part| allows(part, allowed));
    }
    match expression.trim().strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => allows(inner, allowed),
        None => allowed.iter().any(|licence| licence == expression.trim()),
    }
}

#[test]
fn expressions_leave_a_choice_or_not() {
    let allowed =
        ["MIT".to_owned(), "Unicode-3.0".to_owned(), "Apache-2.0 WITH LLVM-exception".to_owned()];
    for fine in [
        "MIT",
        "GPL-3.0 OR MIT",
        "GPL-3.0/MIT",
        "(MIT OR GPL-3.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(allows(fine, &allowed), "{fine}");
    }
    for not in ["GPL-3.0", "", "MIT AND GPL-3.0", "(MIT OR GPL-3.0) AND GPL-3.0", "Apache-2.0"] {
        assert!(!allows(not, &allowed), "{not}");
    }
}

#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut metadata = Command::new(env!("CARGO"));
    metadata.args(["metadata", "--format-version", "1", "--locked", "--offline"]);
    metadata.args(["--filter-platform", &platform]).current_dir(root());
    let metadata = metadata.output().unwrap();
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let (packages, allowed) = (metadata["packages"].as_array().unwrap(), allowed());
    assert!(packages.len() > 50, "the dependencies were not found");
    for package in packages {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or_default());
        assert!(allows(licence, &allowed), "{name} is under {licence:?}: see deny.toml");
    }
}
