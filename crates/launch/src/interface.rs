//! The network interface through which ranks of different hosts communicate.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use serde::Serialize;

use crate::{Exit, Failure, Result};

/// A network interface of this host, as the system describes it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: IpAddr,
    /// Bytes of the longest packet.
    pub mtu: Option<u64>,
    /// Mbit/s, if the driver tells.
    pub speed: Option<u64>,
    /// The driver.
    pub driver: Option<String>,
    /// The congestion control of TCP.
    pub congestion_control: Option<String>,
    /// Bytes of a socket's send buffer: least, usual, most.
    pub send_buffer: Option<String>,
    /// Bytes of a socket's receive buffer: least, usual, most.
    pub receive_buffer: Option<String>,
}

impl Interface {
    /// The interface with this name or address; if `named` is `None`, the one with the address `reached`.
    ///
    /// # Errors
    /// There is no such interface.
    pub fn find(named: Option<&str>, reached: Option<IpAddr>) -> Result<Self> {
        let refused = |what: String| {
            Failure::new(Exit::Remote, what).hint("name one with --interface, e.g. eth0")
        };
        let all = if_addrs::get_if_addrs()
            .map_err(|error| refused(format!("list the interfaces of this host: {error}")))?;
        let address: Option<IpAddr> = named.map_or(reached, |name| name.parse().ok());
        let found = all
            .iter()
            .filter(|one| match (named, address) {
                (_, Some(address)) => one.ip() == address,
                (Some(name), None) => one.name == name && !one.is_link_local(),
                (None, None) => false,
            })
            .min_by_key(|one| one.ip().is_ipv6());
        let Some(found) = found else {
            let mut names: Vec<String> =
                all.iter().map(|one| format!("{} ({})", one.name, one.ip())).collect();
            names.dedup();
            let named = named.map(str::to_owned).or(address.map(|address| address.to_string()));
            let what = match named {
                Some(name) => format!("find the interface {name}: not among {}", names.join(", ")),
                None => "find out at which address other hosts reach this one".to_owned(),
            };
            return Err(refused(what));
        };
        let of = Path::new("/sys/class/net").join(&found.name);
        let text = |path: &Path| Some(fs::read_to_string(path).ok()?.trim().to_owned());
        let number = |file: &str| text(&of.join(file))?.parse().ok();
        let setting = |name: &str| text(&Path::new("/proc/sys/net/ipv4").join(name));
        let driver = fs::read_link(of.join("device/driver")).ok();
        Ok(Self {
            name: found.name.clone(),
            address: found.ip(),
            mtu: number("mtu"),
            speed: number("speed"),
            driver: driver.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
            congestion_control: setting("tcp_congestion_control"),
            send_buffer: setting("tcp_wmem"),
            receive_buffer: setting("tcp_rmem"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_found_by_name_by_address_and_by_how_the_host_was_reached() {
        let loopback: IpAddr = "127.0.0.1".parse().unwrap();
        let found = Interface::find(Some("127.0.0.1"), None).unwrap();
        assert_eq!((found.address, found.mtu.is_some()), (loopback, true));
        assert_eq!(Interface::find(Some(&found.name), None).unwrap(), found);
        assert_eq!(Interface::find(None, Some(loopback)).unwrap(), found);
        for (named, reached) in [(Some("carrier0"), Some(loopback)), (None, None)] {
            assert_eq!(Interface::find(named, reached).unwrap_err().exit, Exit::Remote);
        }
        // An address of another host.
        assert!(Interface::find(Some("192.0.2.1"), None).is_err());
    }
}
