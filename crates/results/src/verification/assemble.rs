//! What was verified of all points together.

use std::collections::BTreeSet;

use bandgap_campaign::{Setting, Table};

use super::Verification;
use crate::measured::Checked;

/// What was verified in `table` under this name; nothing in virtual time, where no bytes move.
pub(crate) fn verification(name: &str, setting: &Setting, table: &Table) -> Option<Verification> {
    if setting.is_virtual() {
        return None;
    }
    let reasons: BTreeSet<&String> =
        table.verified().filter_map(|(_, verified)| verified.unchecked.as_ref()).collect();
    let finding = |why: &String| format!("some points had no checked batch: {why}");
    Some(Verification {
        name: name.to_owned(),
        transport: setting.transport.clone(),
        checked: Checked::of(table.verified().map(|(_, verified)| verified)),
        findings: reasons.into_iter().map(finding).collect(),
    })
}
