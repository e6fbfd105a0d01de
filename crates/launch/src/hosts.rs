//! The hosts that the user names for the ranks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::{Failure, Result, elsewhere, input, usage};

/// The default command that reaches another host.
pub const SSH: &str = "ssh";

/// A host and its slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSlots {
    /// `host` or `user@host`, as for ssh.
    pub host: String,
    /// Most ranks.
    pub slots: usize,
}

/// Hosts, and how to reach them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// Each host once, in rank order.
    pub places: Vec<HostSlots>,
    /// The command, with its options, that runs another command on a host, as `ssh` does.
    pub ssh: Vec<String>,
    /// The interface of every host through which ranks communicate, by name or address; `None` means the one through
    /// which the host was reached.
    pub interface: Option<String>,
    /// Whether to copy this program to the hosts, and remove it afterwards.
    pub copy: bool,
    /// The host of each rank, if the starter of the processes decides.
    pub(crate) order: Option<Vec<usize>>,
}

impl Hosts {
    /// The hosts of a list such as `a:2,b`, then those of a file. Slots of a repeated name add up.
    ///
    /// # Errors
    /// The list or the file cannot be read, or there is no host.
    pub fn of(list: Option<&str>, file: Option<&Path>) -> Result<Self> {
        let mut places = Vec::new();
        for entry in list.iter().flat_map(|list| list.split(',')) {
            add(&mut places, place(entry.trim()).map_err(|what| usage(&what))?);
        }
        if let Some(path) = file {
            let refused = |what: String| {
                input!("read {}{what}", path.display())
                    .hint("one host a line: host, host:2 or host slots=2")
            };
            let mut text = String::new();
            let file = File::open(path);
            let read = file.and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
            match read {
                Ok(bytes) if bytes as u64 <= LONGEST => {}
                Ok(_) => return Err(refused(format!(": it has more than {LONGEST} bytes"))),
                Err(error) => return Err(refused(format!(": {error}"))),
            }
            for (number, line) in text.lines().enumerate() {
                let line = line.split('#').next().unwrap_or_default();
                let line = of_line(line);
                let line =
                    line.map_err(|what| refused(format!(", line {}: {what}", number + 1)))?;
                line.into_iter().for_each(|place| add(&mut places, place));
            }
        }
        if places.is_empty() {
            return Err(usage("no host is named"));
        }
        Ok(Self { places, ssh: vec![SSH.to_owned()], ..Self::default() })
    }

    /// Number of hosts.
    pub fn count(&self) -> usize {
        self.places.iter().map(|place| &place.host).collect::<BTreeSet<_>>().len()
    }

    /// Most ranks.
    pub fn slots(&self) -> usize {
        self.places.iter().map(|place| place.slots).sum()
    }

    /// The host of each of `ranks` ranks: a host for each if there are enough, else each host is filled in turn.
    ///
    /// # Errors
    /// There are more ranks than slots.
    pub fn by_rank(&self, ranks: usize) -> Result<Vec<usize>> {
        let hosts: Vec<usize> = match &self.order {
            Some(order) => order.iter().copied().take(ranks).collect(),
            None if ranks <= self.places.len() => (0..ranks).collect(),
            None => {
                let filled = self.places.iter().enumerate();
                let all = filled.flat_map(|(host, place)| std::iter::repeat_n(host, place.slots));
                all.take(ranks).collect()
            }
        };
        if hosts.len() < ranks {
            return Err(elsewhere!("start {ranks} ranks: the hosts take {} in all", self.slots())
                .hint("name more, as in --hosts a:4,b:4"));
        }
        Ok(hosts)
    }
}

fn usage(what: &str) -> Failure {
    usage!("read --hosts: {what}").hint("as in --hosts a,user@b:2")
}

fn add(places: &mut Vec<HostSlots>, place: HostSlots) {
    match places.iter_mut().find(|known| known.host == place.host) {
        Some(known) => known.slots += place.slots,
        None => places.push(place),
    }
}

/// `host`, `user@host`, `host:2`, `[fe80::1]:2`.
fn place(text: &str) -> Result<HostSlots, String> {
    let (host, slots) = match text.rsplit_once(':') {
        // An IPv6 address itself contains colons.
        Some((host, slots)) if !host.contains(':') || host.ends_with(']') => (host, Some(slots)),
        _ => (text, None),
    };
    named(host, slots)
}

fn named(host: &str, slots: Option<&str>) -> Result<HostSlots, String> {
    let slots = match slots {
        None => 1,
        Some(slots) => {
            slots.parse().ok().filter(|slots| (1..=MOST).contains(slots)).ok_or_else(|| {
                format!("{slots:?} is not a number of ranks for {host}: from 1 to {MOST}")
            })?
        }
    };
    let name = host.replace(['[', ']'], "");
    // ssh would take a leading dash for an option.
    if name.is_empty() || name.starts_with('-') || name.contains(char::is_whitespace) {
        return Err(format!("{host:?} is not a host name"));
    }
    Ok(HostSlots { host: name, slots })
}

/// Most bytes of a file of hosts.
const LONGEST: u64 = 1 << 20;

/// Most slots of a host; runs have fewer ranks.
const MOST: usize = 1 << 20;

fn of_line(line: &str) -> Result<Option<HostSlots>, String> {
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return Ok(None) };
    let mut found = place(first)?;
    for word in words {
        match word.split_once('=') {
            Some(("slots", slots)) => found.slots = named(first, Some(slots))?.slots,
            Some(("user" | "username", user)) => found.host = format!("{user}@{}", found.host),
            // Additions of batch systems, which limit nothing here.
            Some(("max_slots" | "max-slots" | "binding" | "ifname", _)) => {}
            _ => return Err(format!("{word:?} is unknown")),
        }
    }
    // The user may have come after the host.
    named(&found.host, None).map(|named| Some(HostSlots { slots: found.slots, ..named }))
}

/// The processors of each host in a list such as `h1:0-3,h2:0,2`. A list without hosts holds for every host.
///
/// # Errors
/// The list names an unknown host.
pub fn cores(list: &str, hosts: &[String]) -> Result<BTreeMap<String, String>> {
    if !list.contains(':') {
        return Ok(hosts.iter().map(|host| (host.clone(), list.to_owned())).collect());
    }
    let mut of: BTreeMap<String, String> = BTreeMap::new();
    let mut host = None;
    for part in list.split(',') {
        let cpus = match part.rsplit_once(':') {
            Some((name, cpus)) => {
                host = Some(name);
                cpus
            }
            None => part,
        };
        let host = host.filter(|host| hosts.iter().any(|known| known == host));
        let host = host.ok_or_else(|| {
            usage!("read --cores: {part:?} names no host of the run")
                .hint("as in --cores a:0-3,b:0,2")
        })?;
        let list = of.entry(host.to_owned()).or_default();
        if !list.is_empty() {
            list.push(',');
        }
        list.push_str(cpus);
    }
    Ok(of)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::Exit;

    fn places(list: &str) -> Vec<(String, usize)> {
        let places = Hosts::of(Some(list), None).unwrap().places;
        places.into_iter().map(|place| (place.host, place.slots)).collect()
    }

    fn pair(host: &str, slots: usize) -> (String, usize) {
        (host.to_owned(), slots)
    }

    #[test]
    fn hosts_are_read_as_mpirun_and_ssh_write_them() {
        assert_eq!(places("a:2,b"), [pair("a", 2), pair("b", 1)]);
        assert_eq!(places("me@a,b, me@a:3"), [pair("me@a", 4), pair("b", 1)]);
        assert_eq!(places("[fe80::1]:2,fe80::2"), [pair("fe80::1", 2), pair("fe80::2", 1)]);
        for wrong in ["", "a:0", "a:x", "-oProxyCommand=x", "a,,b", "a b"] {
            assert_eq!(Hosts::of(Some(wrong), None).unwrap_err().exit, Exit::Usage, "{wrong}");
        }
    }

    #[test]
    fn files_have_either_form_of_slots_and_errors_their_line() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"# of the queue\na slots=2 max_slots=4\nb:3 binding=user:0,1 # far\n\na\nc user=me slots=2\n").unwrap();
        let hosts = Hosts::of(None, Some(file.path())).unwrap();
        let of = |host: &str, slots| HostSlots { host: host.to_owned(), slots };
        assert_eq!(hosts.places, [of("a", 3), of("b", 3), of("me@c", 2)]);
        file.write_all(b"c cpu=2\n").unwrap();
        let refused = Hosts::of(None, Some(file.path())).unwrap_err();
        assert_eq!(refused.exit, Exit::Input);
        assert!(refused.what.contains("line 7"), "{}", refused.what);
    }

    #[test]
    fn few_ranks_are_spread_and_many_fill_the_hosts() {
        let hosts = Hosts::of(Some("a:3,b:2"), None).unwrap();
        assert_eq!(hosts.by_rank(2).unwrap(), [0, 1]);
        assert_eq!(hosts.by_rank(4).unwrap(), [0, 0, 0, 1]);
        assert_eq!(hosts.by_rank(5).unwrap(), [0, 0, 0, 1, 1]);
        assert_eq!(hosts.by_rank(6).unwrap_err().exit, Exit::Remote);
    }

    #[test]
    fn processors_are_of_every_host_or_of_those_that_are_named() {
        let hosts = ["a".to_owned(), "b".to_owned()];
        assert_eq!(cores("0-3", &hosts).unwrap()["b"], "0-3");
        let of = cores("a:0-3,6,b:1", &hosts).unwrap();
        assert_eq!((&*of["a"], &*of["b"]), ("0-3,6", "1"));
        for wrong in ["c:1", "1,a:2"] {
            assert_eq!(cores(wrong, &hosts).unwrap_err().exit, Exit::Usage);
        }
    }
}
