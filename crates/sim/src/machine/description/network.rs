//! The table that says how ranks are connected.

use crate::topology::{Crossbar, Dragonfly, FatTree, Grid, Hosts, Hypercube};
use serde::Deserialize;
use toml::Spanned;

use super::{PICOSECONDS, Text, most_ranks};
use crate::{Network, SimError};

/// The table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkTable {
    topology: Spanned<Kind>,
    dimensions: Option<Spanned<u32>>,
    rows: Option<Spanned<u32>>,
    columns: Option<Spanned<u32>>,
    arity: Option<Spanned<u32>>,
    levels: Option<Spanned<u32>>,
    hosts: Option<Spanned<u32>>,
    ranks_per_host: Option<Spanned<u32>>,
    routers_per_group: Option<Spanned<u32>>,
    nodes_per_router: Option<Spanned<u32>>,
    links_per_router: Option<Spanned<u32>>,
    #[serde(default)]
    placement: Placement,
    hop_ns: Option<Spanned<f64>>,
}

/// How ranks are numbered over the switches of a fat tree.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Placement {
    #[default]
    Block,
    Cyclic,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Crossbar,
    Hypercube,
    Mesh,
    Torus,
    FatTree,
    Hosts,
    Dragonfly,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Crossbar => "crossbar",
            Self::Hypercube => "hypercube",
            Self::Mesh => "mesh",
            Self::Torus => "torus",
            Self::FatTree => "fat_tree",
            Self::Hosts => "hosts",
            Self::Dragonfly => "dragonfly",
        }
    }

    /// The keys that say how large it is.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Crossbar => &[],
            Self::Hypercube => &["dimensions"],
            Self::Mesh | Self::Torus => &["rows", "columns"],
            Self::FatTree => &["arity", "levels"],
            Self::Hosts => &["hosts", "ranks_per_host"],
            Self::Dragonfly => &["routers_per_group", "nodes_per_router", "links_per_router"],
        }
    }
}

/// A network and its h in picoseconds, as read from the table, or as there is without one.
pub(super) struct Connected {
    pub network: Network,
    pub hop: u64,
}

/// The network of `table`, whose crossbar has `ranks` nodes.
pub(super) fn network(
    source: &Text<'_>,
    table: Option<&Spanned<NetworkTable>>,
    ranks: u32,
) -> Result<Connected, SimError> {
    let crossbar = || Network::Crossbar(Crossbar::new(ranks as usize).expect("checked: a rank"));
    let Some(place) = table else { return Ok(Connected { network: crossbar(), hop: 0 }) };
    let table = place.get_ref();
    let kind = *table.topology.get_ref();
    let sizes = Sizes { source, place, kind };
    let dimensions = sizes.read("dimensions", table.dimensions.as_ref(), 0)?;
    let rows = sizes.read("rows", table.rows.as_ref(), 1)? as usize;
    let columns = sizes.read("columns", table.columns.as_ref(), 1)? as usize;
    let arity = sizes.read("arity", table.arity.as_ref(), 2)? as usize;
    let levels = sizes.read("levels", table.levels.as_ref(), 1)?;
    let hosts = sizes.read("hosts", table.hosts.as_ref(), 1)? as usize;
    let per_host = sizes.read("ranks_per_host", table.ranks_per_host.as_ref(), 1)? as usize;
    let routers = sizes.read("routers_per_group", table.routers_per_group.as_ref(), 1)? as usize;
    let nodes = sizes.read("nodes_per_router", table.nodes_per_router.as_ref(), 1)? as usize;
    let links = sizes.read("links_per_router", table.links_per_router.as_ref(), 1)? as usize;
    let network = match kind {
        Kind::Crossbar => Some(crossbar()),
        Kind::Hypercube => Hypercube::new(dimensions).map(Network::Hypercube),
        Kind::Mesh => Grid::mesh(rows, columns).map(Network::Grid),
        Kind::Torus => Grid::torus(rows, columns).map(Network::Grid),
        Kind::FatTree => FatTree::new(arity, levels).map(|tree| {
            let cyclic = table.placement == Placement::Cyclic;
            Network::FatTree(if cyclic { tree.dealt() } else { tree })
        }),
        Kind::Hosts => Hosts::new(hosts, per_host).map(Network::Hosts),
        Kind::Dragonfly => Dragonfly::new(routers, nodes, links).map(Network::Dragonfly),
    };
    let most = most_ranks();
    let network = network.filter(|network| network.topology().size() <= most as usize);
    let Some(network) = network else {
        let at = Some(table.topology.span());
        let bounds = format!("of at most {most} nodes: make {} smaller", kind.keys().join(" or "));
        return Err(source.wrong("topology", at, kind.name(), bounds));
    };
    Ok(Connected { network, hop: sizes.hop(table.hop_ns.as_ref())? })
}

/// The sizes of a network of this kind.
struct Sizes<'a> {
    source: &'a Text<'a>,
    place: &'a Spanned<NetworkTable>,
    kind: Kind,
}

impl Sizes<'_> {
    /// A key that the kind needs, or else must not have; 0 if it has not.
    fn read(
        &self,
        key: &'static str,
        value: Option<&Spanned<u32>>,
        least: u32,
    ) -> Result<u32, SimError> {
        let wrong =
            |place, value: String, bounds| self.source.wrong(key, Some(place), value, bounds);
        let kind = self.kind.name();
        match (self.kind.keys().contains(&key), value) {
            (false, None) => Ok(0),
            (false, Some(value)) => {
                let bounds = format!("left out of a {kind}");
                Err(wrong(value.span(), value.get_ref().to_string(), bounds))
            }
            (true, None) => {
                Err(wrong(self.place.span(), "missing".into(), format!("given in a {kind}")))
            }
            (true, Some(value)) if (least..=most_ranks()).contains(value.get_ref()) => {
                Ok(*value.get_ref())
            }
            (true, Some(value)) => {
                let bounds = format!("from {least} to {}", most_ranks());
                Err(wrong(value.span(), value.get_ref().to_string(), bounds))
            }
        }
    }

    /// h, which a crossbar has not.
    fn hop(&self, value: Option<&Spanned<f64>>) -> Result<u64, SimError> {
        let key = "hop_ns";
        match (self.kind, value) {
            (Kind::Crossbar, None) => Ok(0),
            (Kind::Crossbar, Some(value)) => {
                let bounds = "left out of a crossbar, where all ranks are one hop apart";
                Err(self.source.wrong(key, Some(value.span()), value.get_ref(), bounds))
            }
            (_, Some(value)) => self.source.time_at(key, value, PICOSECONDS),
            (kind, None) => {
                let bounds = format!("given in a {}", kind.name());
                Err(self.source.wrong(key, Some(self.place.span()), "missing", bounds))
            }
        }
    }
}
