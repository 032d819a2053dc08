//! Checks the Secrets of a pod before Envoy starts.
//!
//! Envoy that reads a certificate by its secret discovery gets ready without it, and refuses connections afterwards. So
//! certificates and keys are checked first, by an Envoy that has them in its bootstrap and only validates that. What it
//! does not look at are the values of headers.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// The longest value of a header that a credential may be, in bytes.
const LONGEST: usize = 16 << 10;

/// Checks that each of the files is the value of a header, and becomes `command` then. It comes back only with an error.
///
/// # Errors
///
/// A file cannot be one, or `command` cannot be started.
pub(crate) fn check(credentials: &[&str], command: &[&str]) -> Result<(), String> {
    for path in credentials {
        let value = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        // The name of the Secret and its key; never the value.
        header_value(&value).map_err(|what| format!("{}: {what}", named(path.as_ref())))?;
    }
    match command {
        [] => Ok(()),
        [program, arguments @ ..] => {
            Err(format!("{program}: {}", Command::new(program).args(arguments).exec()))
        }
    }
}

/// The last two parts of a path: `secret/key`.
fn named(path: &Path) -> String {
    let secret = path.parent().and_then(Path::file_name).unwrap_or(OsStr::new(""));
    let key = path.file_name().unwrap_or(OsStr::new(""));
    format!("Secret {}, key {}", secret.to_string_lossy(), key.to_string_lossy())
}

/// A field value of RFC 9110, section 5.5, in ASCII.
fn header_value(value: &[u8]) -> Result<(), &'static str> {
    match value {
        [] => Err("empty"),
        [.., b'\n' | b'\r'] => {
            Err("ends with a line break, which is no part of a header (`printf %s`, not `echo`)")
        }
        [b' ' | b'\t', ..] | [.., b' ' | b'\t'] => Err("begins or ends with a blank"),
        _ if value.len() > LONGEST => Err("longer than 16 KiB"),
        _ if value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) => Ok(()),
        _ => Err("has bytes that a header cannot have"),
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, check, header_value};
    use std::fs;

    #[test]
    fn takes_what_can_be_the_value_of_a_header() {
        for value in [&b"Bearer abc"[..], b"x", b"a\tb", &vec![b'x'; LONGEST]] {
            assert_eq!(header_value(value), Ok(()));
        }
        for (value, message) in [
            (&b""[..], "empty"),
            (b"token\n", "ends with a line break"),
            (b"token\r\n", "ends with a line break"),
            (b" token", "begins or ends with a blank"),
            (b"one\ntwo", "bytes that a header cannot have"),
            (b"\xc3\xa4", "bytes that a header cannot have"),
            (&vec![b'x'; LONGEST + 1], "longer than"),
        ] {
            assert!(header_value(value).unwrap_err().contains(message), "{message}");
        }
    }

    #[test]
    fn names_the_secret_and_never_shows_it() {
        let folder = std::env::temp_dir().join(format!("portcullis-pod-{}-check", std::process::id()));
        let secret = folder.join("collector");
        fs::create_dir_all(&secret).unwrap();
        let path = secret.join("token");
        fs::write(&path, "hush\n").unwrap();
        let message = check(&[path.to_str().unwrap()], &[]).unwrap_err();
        assert!(message.starts_with("Secret collector, key token: "), "{message}");
        assert!(!message.contains("hush"), "{message}");
        fs::write(&path, "hush").unwrap();
        assert_eq!(check(&[path.to_str().unwrap()], &[]), Ok(()));
        assert!(check(&[path.to_str().unwrap()], &["/no/such/program"]).is_err());
        fs::remove_dir_all(folder).unwrap();
        assert!(check(&[path.to_str().unwrap()], &[]).is_err());
    }
}
