//! The table that describes how ranks are connected.

use std::collections::BTreeMap;

use toml::{Spanned, Value};

use super::Text;
use crate::error::Result;
use crate::{Machine, Network};

/// Contents of the table.
pub(super) type NetworkTable = BTreeMap<String, Spanned<Value>>;

/// Kinds of networks, each with the keys of its size and their least values.
const KINDS: [(&str, &[(&str, u32)]); 7] = [
    ("crossbar", &[]),
    ("hypercube", &[("dimensions", 0)]),
    ("mesh", &[("rows", 1), ("columns", 1)]),
    ("torus", &[("rows", 1), ("columns", 1)]),
    ("fat_tree", &[("arity", 2), ("levels", 1)]),
    ("hosts", &[("hosts", 1), ("ranks_per_host", 1)]),
    ("dragonfly", &[("routers_per_group", 1), ("nodes_per_router", 1), ("links_per_router", 1)]),
];

/// The network of `table`, or a crossbar of `ranks` nodes, and its h in picoseconds, which a
/// crossbar does not have.
pub(super) fn network(
    source: &Text<'_>,
    table: Option<&Spanned<NetworkTable>>,
    ranks: u32,
) -> Result<(Network, Option<u64>)> {
    let crossbar = Network::Hosts { hosts: 1, ranks_per_host: ranks as usize, dealt: false };
    let Some(place) = table else { return Ok((crossbar, None)) };
    let table = place.get_ref();
    let wrong = |key: &str, bounds: String| match table.get(key) {
        Some(of) => source.wrong(key, of.span(), of.get_ref(), bounds),
        None => source.wrong(key, place.span(), "missing", bounds),
    };
    let topology = table.get("topology").and_then(|of| of.get_ref().as_str());
    let Some((kind, keys)) = KINDS.iter().find(|(name, _)| topology == Some(name)) else {
        return Err(wrong("topology", format!("one of {}", KINDS.map(|of| of.0).join(", "))));
    };
    let is_crossbar = keys.is_empty();
    for key in table.keys().map(String::as_str) {
        let is_size = keys.iter().any(|(name, _)| *name == key);
        if !(is_size || ["topology", "placement"].contains(&key) || key == "hop_ns" && !is_crossbar)
        {
            return Err(wrong(key, format!("left out of a {kind}")));
        }
    }
    let most = Machine::MOST_RANKS;
    let mut sizes = Vec::new();
    for (key, least) in *keys {
        let given = table.get(*key).and_then(|of| usize::try_from(of.get_ref().as_integer()?).ok());
        let size = given.filter(|size| (*least as usize..=most).contains(size));
        sizes.push(size.ok_or_else(|| wrong(key, format!("from {least} to {most}")))?);
    }
    // Numbering of ranks over the switches of a fat tree, or over hosts.
    let dealt = match table.get("placement").map(|of| of.get_ref().as_str()) {
        None | Some(Some("block")) => false,
        Some(Some("cyclic")) => true,
        _ => return Err(wrong("placement", "block or cyclic".to_owned())),
    };
    let network = match sizes[..] {
        [dimensions] => Network::Hypercube { dimensions: dimensions as u32 },
        [arity, levels] if *kind == "fat_tree" => {
            Network::FatTree { arity, levels: levels as u32, dealt }
        }
        [hosts, ranks_per_host] if *kind == "hosts" => {
            Network::Hosts { hosts, ranks_per_host, dealt }
        }
        [rows, columns] => Network::Grid { rows, columns, is_torus: *kind == "torus" },
        [routers, nodes, links] => Network::Dragonfly { routers, nodes, links },
        _ => return Ok((crossbar, None)),
    };
    let network = network.checked().filter(|network| network.size() <= most);
    let network = network.ok_or_else(|| {
        let keys: Vec<&str> = keys.iter().map(|of| of.0).collect();
        wrong(
            "topology",
            format!("a network of at most {most} nodes; reduce {}", keys.join(" or ")),
        )
    })?;
    let hop = table.get("hop_ns").and_then(number);
    let hop = hop.ok_or_else(|| wrong("hop_ns", format!("a time, which a {kind} needs")))?;
    Ok((network, Some(source.picoseconds("hop_ns", &hop)?)))
}

fn number(of: &Spanned<Value>) -> Option<Spanned<f64>> {
    let value = of.get_ref();
    let number = value.as_float().or(value.as_integer().map(|whole| whole as f64))?;
    Some(Spanned::new(of.span(), number))
}
