//! The admin secret: from the environment or a file, never from an argument that other users can see.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use secrecy::{ExposeSecret as _, SecretString};

use crate::token;

const VARIABLE: &str = "WHETSTONE_MARKET_ADMIN_SECRET";
const DEFAULT_FILE: &str = "market-admin-secret";
/// Shorter ones can be guessed over the network.
const MIN_LENGTH: usize = 16;

/// Where the admin secret comes from.
#[derive(Debug, clap::Args)]
pub(super) struct SecretArgs {
    /// File with the admin secret; the variable `WHETSTONE_MARKET_ADMIN_SECRET` goes before it
    #[arg(
        long,
        value_name = "FILE",
        env = "WHETSTONE_MARKET_ADMIN_SECRET_FILE",
        default_value = DEFAULT_FILE
    )]
    admin_secret_file: PathBuf,
}

/// Where a server's secret came from.
#[derive(Debug)]
pub(super) enum Origin {
    Environment,
    File(PathBuf),
    Made(PathBuf),
}

impl SecretArgs {
    /// The secret of a market that runs already.
    pub(super) fn known(&self) -> anyhow::Result<SecretString> {
        if let Some(secret) = from_environment()? {
            return Ok(secret);
        }
        let file = &self.admin_secret_file;
        read(file)?.with_context(|| {
            format!(
                "no admin secret: there is no file `{}` and {VARIABLE} is not set; `market serve` writes the file in the folder it is started in, name it with --admin-secret-file",
                file.display()
            )
        })
    }

    /// The secret for a market that is about to start; made and written to the file when there is none.
    pub(super) fn known_or_made(&self) -> anyhow::Result<(SecretString, Origin)> {
        if let Some(secret) = from_environment()? {
            return Ok((secret, Origin::Environment));
        }
        let file = &self.admin_secret_file;
        if let Some(secret) = read(file)? {
            return Ok((secret, Origin::File(file.clone())));
        }
        let secret = token::mint("wa_").context("making an admin secret")?;
        write(file, &secret)
            .with_context(|| format!("writing the admin secret to `{}`", file.display()))?;
        Ok((secret, Origin::Made(file.clone())))
    }
}

fn from_environment() -> anyhow::Result<Option<SecretString>> {
    match std::env::var(VARIABLE) {
        Ok(secret) if secret.trim().is_empty() => Ok(None),
        Ok(secret) => checked(&secret)
            .with_context(|| format!("the variable {VARIABLE}"))
            .map(Some),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => anyhow::bail!("{VARIABLE} is not valid text"),
    }
}

fn read(file: &Path) -> anyhow::Result<Option<SecretString>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error)
                .with_context(|| format!("reading the admin secret file `{}`", file.display()));
        }
    };
    checked(&text)
        .with_context(|| format!("the admin secret file `{}`", file.display()))
        .map(Some)
}

/// What can stand in a header and cannot be guessed. The error does not repeat it.
fn checked(text: &str) -> anyhow::Result<SecretString> {
    let secret = text.trim();
    anyhow::ensure!(
        secret.len() >= MIN_LENGTH,
        "a secret of {} characters is too short: use at least {MIN_LENGTH}, or let `market serve` make one",
        secret.len()
    );
    anyhow::ensure!(
        secret.chars().all(|c| c.is_ascii_graphic()),
        "the secret may hold printable ASCII characters only, without spaces"
    );
    Ok(SecretString::from(secret))
}

/// Writes a file that did not exist, for the owner's eyes only.
fn write(file: &Path, secret: &SecretString) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(file)?;
    writeln!(file, "{}", secret.expose_secret())?;
    file.sync_all()
}

#[cfg(test)]
impl SecretArgs {
    pub(super) fn of(file: &Path) -> Self {
        Self {
            admin_secret_file: file.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_secret_is_private_and_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        assert!(read(&file).unwrap().is_none());
        let secret = token::mint("wa_").unwrap();
        write(&file, &secret).unwrap();
        assert_eq!(
            read(&file).unwrap().unwrap().expose_secret(),
            secret.expose_secret()
        );
        assert_eq!(
            write(&file, &secret).unwrap_err().kind(),
            ErrorKind::AlreadyExists
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn weak_secrets_are_refused_and_not_repeated() {
        for weak in [
            "hunter2",
            "with a space in the middle",
            "ünïcödé-ünïcödé-ünïcödé",
        ] {
            let error = format!("{:#}", checked(weak).unwrap_err());
            assert!(!error.contains(weak), "{error}");
        }
        assert!(checked(" 0123456789abcdef\n").is_ok());
    }
}
