//! What the machine allows, as a table.

use bandgap_record::Floor;

use crate::Layout;
use crate::table::{
    ROOMY, estimated, evidence, finish, footnote, interval, one_state, table, unbroken, value,
};

/// The floors with their intervals and what each of them is.
pub fn floors<'a>(floors: &[&'a Floor], layout: &Layout) -> String {
    let confidence = format!("{} interval", layout.confidence);
    let quantities = || floors.iter().map(|floor| floor.value.quantity());
    let state = one_state(floors.iter().map(|floor| floor.state.as_deref()));
    // What all have in common is said once.
    let alike = quantities().all(|q| q.estimator == floors[0].value.quantity().estimator);
    let sourced = layout.columns() >= ROOMY && !alike;
    let mut headings = vec!["floor", "value", &confidence];
    if state.is_none() {
        headings.push("state");
    }
    headings.push("meaning");
    if sourced {
        headings.push("estimated by");
    }
    let mut rows = table(layout, headings, &[1, 2]);
    unbroken(&mut rows, layout, &[0]);
    for floor in floors {
        let quantity = floor.value.quantity();
        let mut cells = vec![floor.name.clone(), value(quantity), interval(quantity)];
        if state.is_none() {
            cells.push(floor.state.clone().unwrap_or_default());
        }
        cells.push(meaning(&floor.name).to_owned());
        if sourced {
            cells.push(evidence(quantity));
        }
        rows.add_row(cells);
    }
    let mut text =
        state.map(|state| layout.paragraph(&format!("State {state}"))).unwrap_or_default();
    text += &finish(&rows);
    text += &footnote(layout, quantities());
    if !sourced {
        let by = |floor: &&'a Floor| (floor.name.as_str(), floor.value.quantity());
        text += &estimated(layout, floors.iter().map(by));
    }
    text
}

/// What a floor is; nothing for names that this version does not know.
fn meaning(name: &str) -> &'static str {
    match name {
        "cache_line" => "one store seen by the other core, half round trip",
        "active_message" => "request and reply through handlers, half round trip",
        "message" => "8-byte message sent and received, half round trip",
        "active_message_stream" => "requests without replies, time each",
        "active_message_tcp" => "request and reply over TCP, half round trip",
        "active_message_unix" => "the same over a Unix socket",
        "active_message_udp" => "the same over UDP",
        "slot_ring" => "64-byte slot each way, half round trip",
        "slot_ring_stream" => "8-byte messages one way, time each",
        "copy_local" => "memory copy on one core",
        "copy_cross_core" => "memory copy of what the other core wrote",
        "copy_cross_core_1mib" => "the same, 1 MiB",
        "bulk_get" => "get of 64 KiB of the peer's memory",
        "bulk_get_1mib" => "the same, 1 MiB",
        "store_cross_core" => "memory copy to where the other core reads",
        "store_cross_core_1mib" => "the same, 1 MiB",
        "bulk_store" => "store of 64 KiB into the peer's memory",
        "bulk_store_1mib" => "the same, 1 MiB",
        "copy_pipeline" => "two memory copies at once through shared slots, half round trip",
        "copy_pipeline_1mib" => "the same, 1 MiB",
        "copy_vm_readv" => "copy out of the other process by the kernel",
        "copy_vm_readv_1mib" => "the same, 1 MiB",
        "message_64kib" => "64 KiB message sent and received, half round trip",
        "message_1mib" => "the same, 1 MiB",
        "tcp" => "8 bytes over TCP, half a round trip",
        "unix" => "8 bytes over a Unix socket, half a round trip",
        "udp" => "8 bytes over UDP, half a round trip",
        "tcp_stream" => "1 MiB over TCP and an answer",
        "bulk_store_tcp_1mib" => "store of 1 MiB over TCP",
        "unix_stream" => "1 MiB over a Unix socket and an answer",
        "bulk_store_unix_1mib" => "store of 1 MiB over a Unix socket",
        "clock_read" => "reading the clock once",
        "system_call" => "the cheapest system call",
        _ => "",
    }
}
