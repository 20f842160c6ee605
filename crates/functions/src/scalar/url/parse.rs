//! URLs by the rules of Java's `java.net.URL`, which are wider than those of browsers.

use std::net::Ipv6Addr;

/// The protocols Java can handle.
const PROTOCOLS: &[&str] = &["http", "https", "ftp", "file", "jar", "jmod", "jrt", "mailto"];

/// A part of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The host, of an IPv6 address with its brackets.
    Host,
    /// The path.
    Path,
    /// What is between `?` and `#`.
    Query,
    /// What is behind `#`.
    Ref,
    /// The protocol in lower case.
    Protocol,
    /// User, host and port.
    Authority,
    /// Path and query.
    File,
    /// What is before `@` in the authority.
    UserInfo,
}

impl Part {
    /// The part of a name in upper case.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "HOST" => Self::Host,
            "PATH" => Self::Path,
            "QUERY" => Self::Query,
            "REF" => Self::Ref,
            "PROTOCOL" => Self::Protocol,
            "AUTHORITY" => Self::Authority,
            "FILE" => Self::File,
            "USERINFO" => Self::UserInfo,
            _ => return None,
        })
    }
}

/// A URL taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url<'a> {
    protocol: &'static str,
    authority: Option<&'a str>,
    user_info: Option<&'a str>,
    host: &'a str,
    path: &'a str,
    query: Option<&'a str>,
    reference: Option<&'a str>,
}

impl<'a> Url<'a> {
    /// Takes a URL apart; `None` if it is none.
    pub fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim_matches(|c| c <= ' ');
        let text = match text.get(..4) {
            Some(prefix) if prefix.eq_ignore_ascii_case("url:") => &text[4..],
            _ => text,
        };
        let colon = text.find([':', '/']).filter(|at| text.as_bytes()[*at] == b':')?;
        let protocol = PROTOCOLS.iter().find(|known| known.eq_ignore_ascii_case(&text[..colon]))?;
        let rest = &text[colon + 1..];
        let (rest, reference) = cut(rest, '#');
        let (rest, query) = cut(rest, '?');
        let mut url = Self {
            protocol,
            authority: None,
            user_info: None,
            host: "",
            path: rest,
            query,
            reference,
        };
        if rest.starts_with("//") && !rest.starts_with("////") {
            let end = rest[2..].find('/').map_or(rest.len(), |slash| slash + 2);
            url.path = &rest[end..];
            url.set_authority(&rest[2..end])?;
        }
        let is_valid = match *protocol {
            "jar" => rest.contains("!/"),
            "mailto" => !rest.is_empty(),
            _ => true,
        };
        is_valid.then_some(url)
    }

    /// Takes the authority apart; `None` if it is invalid.
    fn set_authority(&mut self, authority: &'a str) -> Option<()> {
        self.authority = Some(authority);
        let server = match authority.split_once('@') {
            // Several @ belong to no server.
            Some((_, server)) if server.contains('@') => return Some(()),
            Some((user, server)) => {
                self.user_info = Some(user);
                server
            }
            None => authority,
        };
        let (host, port) = match server.strip_prefix('[') {
            Some(inside) => {
                let (address, behind) = inside.split_once(']')?;
                let is_address = address.split('%').next()?.parse::<Ipv6Addr>().is_ok();
                if !is_address || !(behind.is_empty() || behind.starts_with(':')) {
                    return None;
                }
                (&server[..address.len() + 2], behind.get(1..).unwrap_or_default())
            }
            None => server.split_once(':').unwrap_or((server, "")),
        };
        if !port.is_empty() && port.parse::<i32>().ok()? < -1 {
            return None;
        }
        self.host = host;
        Some(())
    }

    /// Appends a part; `None` if there is none.
    pub fn write(&self, part: Part, out: &mut String) -> Option<()> {
        out.push_str(match part {
            Part::Host => self.host,
            Part::Path | Part::File => self.path,
            Part::Query => self.query?,
            Part::Ref => self.reference?,
            Part::Protocol => self.protocol,
            Part::Authority => self.authority?,
            Part::UserInfo => self.user_info?,
        });
        if let (Part::File, Some(query)) = (part, self.query) {
            out.push('?');
            out.push_str(query);
        }
        Some(())
    }

    /// The first value of a key in the query, as it stands there.
    pub fn query_value(&self, key: &str) -> Option<&'a str> {
        let mut rest = self.query?;
        loop {
            if let Some(value) = rest.strip_prefix(key).and_then(|rest| rest.strip_prefix('=')) {
                return value.split('&').next();
            }
            rest = rest.split_once('&')?.1;
        }
    }
}

/// What is before and behind the first `separator`.
fn cut(text: &str, separator: char) -> (&str, Option<&str>) {
    match text.split_once(separator) {
        Some((before, behind)) => (before, Some(behind)),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(url: &str, name: &str) -> Option<String> {
        let mut out = String::new();
        Url::parse(url)?.write(Part::named(name)?, &mut out).map(|()| out)
    }

    #[test]
    fn parts_are_those_java_gives() {
        let full = "https://user:pw@host.example.org:8443/a/b.html?x=1&y=two#frag";
        for (url, name, wanted) in [
            (full, "HOST", Some("host.example.org")),
            (full, "PATH", Some("/a/b.html")),
            (full, "QUERY", Some("x=1&y=two")),
            (full, "REF", Some("frag")),
            (full, "PROTOCOL", Some("https")),
            (full, "AUTHORITY", Some("user:pw@host.example.org:8443")),
            (full, "FILE", Some("/a/b.html?x=1&y=two")),
            (full, "USERINFO", Some("user:pw")),
            (full, "PORT", None),
            (full, "host", None),
            ("http://h", "PATH", Some("")),
            ("http://h", "QUERY", None),
            ("http://h?", "QUERY", Some("")),
            ("http://h?q/r@s", "HOST", Some("h")),
            ("http://h/p?q#r#s", "REF", Some("r#s")),
            ("http:path", "PATH", Some("path")),
            ("http:/path", "AUTHORITY", None),
            ("http:///path", "AUTHORITY", Some("")),
            ("http:////h/p", "PATH", Some("////h/p")),
            ("http:////h/p", "AUTHORITY", None),
            ("mailto:a@b.c", "PATH", Some("a@b.c")),
            ("mailto:", "PATH", None),
            ("jar:file:/a.jar!/b?x=1", "PATH", Some("file:/a.jar!/b")),
            ("jar:file:/a.jar", "PATH", None),
            ("foo://host/path", "HOST", None),
            ("HTTP://Host.Example/Path", "PROTOCOL", Some("http")),
            ("HTTP://Host.Example/Path", "HOST", Some("Host.Example")),
            ("  url:http://host/path  ", "PATH", Some("/path")),
            ("http://a b/c d", "HOST", Some("a b")),
            ("http://h/a/../b/./c", "PATH", Some("/a/../b/./c")),
            ("http://u@v@h/p", "USERINFO", None),
            ("http://u@v@h/p", "HOST", Some("")),
            ("http://@h/p", "USERINFO", Some("")),
            ("https", "PROTOCOL", None),
            ("://h", "PROTOCOL", None),
            ("not a url", "HOST", None),
            ("", "HOST", None),
        ] {
            assert_eq!(part(url, name).as_deref(), wanted, "{url} {name}");
        }
    }

    #[test]
    fn the_port_and_ipv6_hosts_are_checked() {
        for (url, wanted) in [
            ("http://h:80", Some("h")),
            ("http://h:", Some("h")),
            ("http://h:+80", Some("h")),
            ("http://h:-1", Some("h")),
            ("http://h:-2", None),
            ("http://h:80abc", None),
            ("http://h:99999999999", None),
            ("http://[::1]:80/x", Some("[::1]")),
            ("http://[::ffff:1.2.3.4]:", Some("[::ffff:1.2.3.4]")),
            ("http://[fe80::1%eth0]/", Some("[fe80::1%eth0]")),
            ("http://[::1/x", None),
            ("http://[::1]x/x", None),
            ("http://[]", None),
            ("http://[1.2.3.4]", None),
        ] {
            assert_eq!(part(url, "HOST").as_deref(), wanted, "{url}");
        }
    }

    #[test]
    fn keys_are_found_at_the_start_or_behind_an_ampersand() {
        for (query, key, wanted) in [
            ("ak1=5&k1=6", "k1", Some("6")),
            ("k1=", "k1", Some("")),
            ("k1", "k1", None),
            ("a=1&&b=2&=3&c", "b", Some("2")),
            ("a=1&&b=2&=3&c", "", Some("3")),
            ("a=1&b=2", "a=1&b", Some("2")),
            ("a=x=y", "a", Some("x=y")),
            ("axb=6", "a.b", None),
        ] {
            let url = format!("http://h/p?{query}");
            let value = Url::parse(&url).and_then(|url| url.query_value(key));
            assert_eq!(value, wanted, "{query} {key}");
        }
    }
}
