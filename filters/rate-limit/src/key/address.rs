//! Where a request came from.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use portcullis_policy::HeaderList;
use portcullis_policy::headers::without_ows;

/// How the source address is found, and how much of it counts.
#[derive(Debug, Clone, Copy)]
pub struct SourceAddress {
    trusted_hops: u8,
    prefix_v4: u8,
    prefix_v6: u8,
}

impl SourceAddress {
    /// With so many trusted proxies in front, and so many bits that count.
    pub const fn new(trusted_hops: u8, prefix_v4: u8, prefix_v6: u8) -> Self {
        Self { trusted_hops, prefix_v4, prefix_v6 }
    }

    /// The network that the request came from; `None` if the address is no IP address.
    ///
    /// With trusted hops it is that of the address that Envoy takes for `xff_num_trusted_hops`: so many entries at the
    /// right end of X-Forwarded-For are passed over, and the next one counts, if it is an address. Otherwise it is the
    /// connection's.
    pub fn read(&self, headers: &HeaderList, connection: Option<&[u8]>) -> Option<Network> {
        let forwarded = match self.trusted_hops {
            0 => None,
            hops => forwarded_for(headers, hops).and_then(parse),
        };
        let address = forwarded.or_else(|| connection.and_then(parse))?;
        Some(self.network(address))
    }

    /// Whether all bits of an address count, of either version.
    pub const fn counts_whole_addresses(&self) -> bool {
        self.prefix_v4 == 32 && self.prefix_v6 == 128
    }

    fn network(&self, address: IpAddr) -> Network {
        match embedded_v4(address) {
            IpAddr::V4(address) => {
                let host_bits = u32::from(32_u8.saturating_sub(self.prefix_v4));
                let mask = u32::MAX.checked_shl(host_bits).unwrap_or(0);
                let address = Ipv4Addr::from_bits(address.to_bits() & mask);
                Network { address: address.into(), prefix: self.prefix_v4 }
            }
            IpAddr::V6(address) => {
                let host_bits = u32::from(128_u8.saturating_sub(self.prefix_v6));
                let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
                let address = Ipv6Addr::from_bits(address.to_bits() & mask);
                Network { address: address.into(), prefix: self.prefix_v6 }
            }
        }
    }
}

/// The addresses that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// The bits, and zeros behind them.
    pub address: IpAddr,
    /// How many bits.
    pub prefix: u8,
}

impl Network {
    /// How many bits count, then the address: 4 bytes for IPv4, 16 for IPv6.
    pub fn to_bytes(self) -> Vec<u8> {
        match self.address {
            IpAddr::V4(address) => [&[self.prefix][..], &address.octets()].concat(),
            IpAddr::V6(address) => [&[self.prefix][..], &address.octets()].concat(),
        }
    }
}

/// `192.0.2.0/24`.
impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

/// The entry of X-Forwarded-For that stands before the last `hops` ones. Proxies append to the field of this very name:
/// what stands in another spelling is the client's own word.
fn forwarded_for(headers: &HeaderList, hops: u8) -> Option<&[u8]> {
    let fields: Vec<&[u8]> = headers.all("x-forwarded-for").collect();
    let from_the_right = fields.into_iter().rev().flat_map(|field| field.rsplit(|byte| *byte == b','));
    from_the_right.map(without_ows).nth(usize::from(hops))
}

/// The IPv4 address that an IPv6 address stands for, if it does: `::ffff:192.0.2.1`, without which all of IPv4 would be one
/// IPv6 network to a listener that takes both, and `64:ff9b::192.0.2.1`, as translators write it (NAT64; RFC 6052,
/// section 2.1).
fn embedded_v4(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => match address.segments() {
            [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
                let [.., a, b, c, d] = address.octets();
                Ipv4Addr::new(a, b, c, d).into()
            }
            _ => address.into(),
        },
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// An address with or without a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`.
/// The zone of an IPv6 address does not count.
fn parse(text: &[u8]) -> Option<IpAddr> {
    let text = core::str::from_utf8(text).ok()?;
    let host = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            if !port.is_empty() && !is_port(port.strip_prefix(':')?) {
                return None;
            }
            host
        }
        None => match text.split_once(':') {
            Some((host, port)) if is_port(port) => host,
            _ => text,
        },
    };
    let host = host.split_once('%').map_or(host, |(address, _zone)| address);
    host.parse().ok()
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(address: SourceAddress, forwarded: &[&str], connection: &str) -> Option<String> {
        let headers = forwarded.iter().map(|value| ("x-forwarded-for", *value)).collect();
        address.read(&headers, Some(connection.as_bytes())).map(|network| network.to_string())
    }

    fn v4([a, b, c, d]: [u8; 4]) -> Option<String> {
        Some(format!("{a}.{b}.{c}.{d}/32"))
    }

    #[test]
    fn reads_addresses_as_hosts_and_proxies_write_them() {
        for (text, expected) in [
            ("192.0.2.1", Some("192.0.2.1")),
            ("192.0.2.1:50000", Some("192.0.2.1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("[2001:db8::1]:50000", Some("2001:db8::1")),
            ("[fe80::1%eth0]:50000", Some("fe80::1")),
            ("::1", Some("::1")),
            ("1::80", Some("1::80")),
            ("192.0.2.1:", None),
            ("192.0.2.1:70000", None),
            ("192.0.2.1:+80", None),
            ("192.0.2.256", None),
            ("192.0.2.1, 192.0.2.2", None),
            ("[2001:db8::1]x", None),
            ("[2001:db8::1", None),
            ("192.0.2", None),
            ("unknown", None),
            ("/run/envoy.sock", None),
            ("", None),
        ] {
            assert_eq!(parse(text.as_bytes()), expected.map(|text| text.parse().unwrap()), "{text}");
        }
        assert_eq!(parse(b"\xff"), None);
    }

    #[test]
    fn takes_the_entry_before_those_of_trusted_proxies() {
        let [one, two] = [1, 2].map(|hops| SourceAddress::new(hops, 32, 64));
        let connection = "192.0.2.9:1";
        for (address, forwarded, expected) in [
            (one, &["192.0.2.1, 192.0.2.2"][..], [192, 0, 2, 1]),
            (one, &["6.6.6.6,192.0.2.1 , 192.0.2.2"], [192, 0, 2, 1]),
            (two, &["6.6.6.6, 192.0.2.1, 10.0.0.1, 192.0.2.2"], [192, 0, 2, 1]),
            // Several fields are one list.
            (one, &["192.0.2.1", "192.0.2.2"], [192, 0, 2, 1]),
            (two, &["6.6.6.6, 192.0.2.1", "10.0.0.1, 192.0.2.2"], [192, 0, 2, 1]),
            // Fewer entries than hops, or no address where one should be: the connection's, as Envoy has it.
            (one, &["192.0.2.2"], [192, 0, 2, 9]),
            (two, &["192.0.2.1, 192.0.2.2"], [192, 0, 2, 9]),
            (one, &[], [192, 0, 2, 9]),
            (one, &["6.6.6.6, nonsense, 192.0.2.2"], [192, 0, 2, 9]),
            (one, &["6.6.6.6, , 192.0.2.2"], [192, 0, 2, 9]),
            (one, &["192.0.2.1,"], [192, 0, 2, 1]),
        ] {
            assert_eq!(read(address, forwarded, connection), v4(expected), "{address:?} {forwarded:?}");
        }
        let none = SourceAddress::new(0, 32, 64);
        assert_eq!(read(none, &["6.6.6.6, 7.7.7.7"], connection), v4([192, 0, 2, 9]));
    }

    #[test]
    fn counts_networks_not_addresses() {
        let address = SourceAddress::new(0, 24, 48);
        let network = |text: &str| read(address, &[], text).unwrap();
        assert_eq!(network("192.0.2.1:1"), "192.0.2.0/24");
        assert_eq!(network("192.0.2.255:1"), network("192.0.2.1:2"));
        assert_ne!(network("192.0.3.1:1"), network("192.0.2.1:1"));
        assert_eq!(network("[2001:db8:1:2::3]:1"), "2001:db8:1::/48");
        assert_eq!(network("[2001:db8:1:2::3]:1"), network("[2001:db8:1:4:5:6:7:8]:1"));
        assert_ne!(network("[2001:db8:1::]:1"), network("[2001:db8:2::]:1"));
        // A host of IPv4, whichever way the listener says it.
        assert_eq!(network("[::ffff:192.0.2.1]:1"), network("192.0.2.77:1"));
        assert_ne!(network("[::ffff:192.0.2.1]:1"), network("[::ffff:198.51.100.1]:1"));
        assert_eq!(network("[64:ff9b::192.0.2.1]:1"), network("192.0.2.77:1"));
        assert_ne!(network("[64:ff9b::192.0.2.1]:1"), network("[64:ff9b::198.51.100.1]:1"));
        // Other prefixes are the operator's own affair (RFC 8215 among them): nothing says how they are used.
        assert_eq!(network("[64:ff9b:1::192.0.2.1]:1"), "64:ff9b:1::/48");
        let whole = SourceAddress::new(0, 32, 128);
        assert_eq!(read(whole, &[], "192.0.2.1:1").as_deref(), Some("192.0.2.1/32"));
        assert_eq!(read(whole, &[], "[::1]:1").as_deref(), Some("::1/128"));
    }

    #[test]
    fn has_different_bytes_for_different_networks() {
        let bytes = |prefix_v4, prefix_v6, connection: &str| {
            let address = SourceAddress::new(0, prefix_v4, prefix_v6);
            address.read(&HeaderList::new(), Some(connection.as_bytes())).unwrap().to_bytes()
        };
        assert_eq!(bytes(24, 64, "192.0.2.1:1"), [24, 192, 0, 2, 0]);
        assert_ne!(bytes(24, 64, "192.0.2.0:1"), bytes(32, 64, "192.0.2.0:1"));
        assert_ne!(bytes(32, 32, "0.0.0.0:1"), bytes(32, 32, "[::]:1"));
    }

    #[test]
    fn has_no_value_for_what_is_no_address() {
        let address = SourceAddress::new(1, 32, 64);
        assert_eq!(read(address, &["unknown, 192.0.2.2"], "/run/envoy.sock"), None);
        assert_eq!(address.read(&HeaderList::new(), None), None);
    }
}
