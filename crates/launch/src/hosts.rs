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
        if let Some(list) = list {
            named(list).and_then(|found| add(&mut places, found)).map_err(|what| usage(&what))?;
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
                let added = of_line(line).and_then(|found| add(&mut places, found));
                added.map_err(|what| refused(format!(", line {}: {what}", number + 1)))?;
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
    usage!("read --hosts: {what}").hint("as in --hosts a,user@b:2,c[1-4]")
}

fn add(places: &mut Vec<HostSlots>, more: Vec<HostSlots>) -> Result<(), String> {
    for place in more {
        match places.iter_mut().find(|known| known.host == place.host) {
            Some(known) => known.slots += place.slots,
            None => places.push(place),
        }
    }
    let few = places.len() <= HOSTS;
    few.then_some(()).ok_or_else(|| format!("there are more than {HOSTS} hosts"))
}

/// The hosts of a list of `host`, `user@host`, `host:2`, `[fe80::1]:2` and `host[1-4]`.
fn named(list: &str) -> Result<Vec<HostSlots>, String> {
    let mut inside = false;
    let between = |letter| {
        inside = letter == '[' || inside && letter != ']';
        letter == ',' && !inside
    };
    let mut places = Vec::new();
    for text in list.split(between).map(str::trim) {
        let (hosts, slots) = match text.rsplit_once(':') {
            // An IPv6 address itself contains colons.
            Some((host, of)) if !host.contains(':') || host.ends_with(']') => (host, slots(of)?),
            _ => (text, 1),
        };
        let wrong = || format!("{hosts:?} has a wrong range, or more than {HOSTS} hosts");
        for host in expanded(hosts).ok_or_else(wrong)? {
            places.push(HostSlots { host: checked(&host)?, slots });
        }
    }
    Ok(places)
}

/// The names in a name as Slurm writes several (`scontrol show hostnames`): `a[08-10,12]` is a08, a09, a10 and a12.
/// `None` if a range is wrong, or there are too many.
fn expanded(text: &str) -> Option<Vec<String>> {
    let (mut names, mut rest) = (vec![String::new()], text);
    while let Some((before, after)) = rest.split_once('[')
        && let Some((ranges, after)) = after.split_once(']')
        // An address of IPv6 has colons.
        && !ranges.contains(':')
    {
        let mut longer = Vec::new();
        for (name, range) in names.iter().flat_map(|of| ranges.split(',').map(move |to| (of, to))) {
            let (low, high) = range.split_once('-').unwrap_or((range, range));
            let (numbers, width) = (low.parse().ok()?..=high.parse::<usize>().ok()?, low.len());
            if numbers.is_empty() || width > 18 || longer.len() > HOSTS {
                return None;
            }
            let with = |number| format!("{name}{before}{number:0width$}");
            longer.extend(numbers.take(HOSTS + 1).map(with));
        }
        (names, rest) = (longer, after);
    }
    (names.len() <= HOSTS).then(|| names.into_iter().map(|name| name + rest).collect())
}

/// A name as ssh takes it.
fn checked(host: &str) -> Result<String, String> {
    let name = host.rsplit('@').next().unwrap_or_default();
    let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    // ssh would take a leading dash for an option.
    let is_wrong = inner.is_empty() || inner.starts_with('-') || host.starts_with('-');
    if is_wrong || inner.contains(['[', ']']) || host.contains(char::is_whitespace) {
        return Err(format!("{host:?} is not a host name"));
    }
    Ok(host.replace(['[', ']'], ""))
}

fn slots(text: &str) -> Result<usize, String> {
    let slots = text.parse().ok().filter(|slots| (1..=MOST).contains(slots));
    slots.ok_or_else(|| format!("{text:?} is not a number of ranks: from 1 to {MOST}"))
}

/// Most hosts.
const HOSTS: usize = 1 << 12;

/// Most bytes of a file of hosts.
const LONGEST: u64 = 1 << 20;

/// Most slots of a host; runs have fewer ranks.
const MOST: usize = 1 << 20;

fn of_line(line: &str) -> Result<Vec<HostSlots>, String> {
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return Ok(Vec::new()) };
    let mut found = named(first)?;
    for word in words {
        for place in &mut found {
            match word.split_once('=') {
                Some(("slots", of)) => place.slots = slots(of)?,
                Some(("user" | "username", user)) => {
                    place.host = checked(&format!("{user}@{}", place.host))?;
                }
                // Additions of batch systems, which limit nothing here.
                Some(("max_slots" | "max-slots" | "binding" | "ifname", _)) => {}
                _ => return Err(format!("{word:?} is unknown")),
            }
        }
    }
    Ok(found)
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
        // As `scontrol show hostnames` tells them.
        let hosts = |list| places(list).into_iter().map(|(host, _)| host).collect::<Vec<_>>();
        assert_eq!(hosts("h[01-03,7],g5"), ["h01", "h02", "h03", "h7", "g5"]);
        assert_eq!(hosts("me@r[1-2]n[9-10]x"), ["me@r1n9x", "me@r1n10x", "me@r2n9x", "me@r2n10x"]);
        assert_eq!(
            places("h[1,3]:2,[fe80::1]"),
            [pair("h1", 2), pair("h3", 2), pair("fe80::1", 1)]
        );
        assert_eq!(places("h[1-2],h2"), [pair("h1", 1), pair("h2", 2)]);
        for wrong in ["", "a:0", "a:x", "-oProxyCommand=x", "a,,b", "a b", "me@-a", "[-o]"] {
            assert_eq!(Hosts::of(Some(wrong), None).unwrap_err().exit, Exit::Usage, "{wrong}");
        }
        let ranges =
            ["h[1-2", "h1-2]", "h[]", "h[2-1]", "h[1-]", "h[a-b]", "h[[1-2]]", "h[1-5000]"];
        for wrong in ranges.into_iter().chain(["a[1-99]b[1-99]", "h[1-99999999999999999999]"]) {
            assert_eq!(Hosts::of(Some(wrong), None).unwrap_err().exit, Exit::Usage, "{wrong}");
        }
    }

    #[test]
    fn files_have_either_form_of_slots_and_errors_their_line() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"# of the queue\na slots=2 max_slots=4\nb:3 binding=user:0,1 # far\n\na\nc[1-2] user=me slots=2\n").unwrap();
        let hosts = Hosts::of(None, Some(file.path())).unwrap();
        let of = |host: &str, slots| HostSlots { host: host.to_owned(), slots };
        assert_eq!(hosts.places, [of("a", 3), of("b", 3), of("me@c1", 2), of("me@c2", 2)]);
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
