//! Makes the entry of a clients file for a new secret, so that no file has to hold the secret itself.

use std::io::{self, BufRead as _, Write as _};

use crate::auth::SaltedSecret;
use crate::serve::StartError;

/// Reads one line from standard input and prints its salted digest as JSON.
///
/// The secret comes by standard input because arguments are visible to every process of the machine.
///
/// # Errors
/// When there is no secret to read, no randomness for the salt, or nowhere to print.
pub(crate) fn run() -> Result<(), StartError> {
    let mut line = Vec::new();
    io::stdin().lock().read_until(b'\n', &mut line).map_err(failed)?;
    let secret = line.strip_suffix(b"\n").unwrap_or(&line);
    let secret = secret.strip_suffix(b"\r").unwrap_or(secret);
    if secret.is_empty() {
        return Err(failed("standard input holds no secret on its first line"));
    }
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(failed)?;
    let entry = serde_json::to_string(&SaltedSecret::new(salt.to_vec(), secret)).map_err(failed)?;
    writeln!(io::stdout(), "{entry}").map_err(failed)
}

fn failed(reason: impl std::fmt::Display) -> StartError {
    StartError::Secret(reason.to_string())
}
