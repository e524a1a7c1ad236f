//! Bearer tokens: random, shown once, kept only as hashes.

use rand::TryRng as _;
use rand::rngs::SysRng;
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;

/// SHA-256 of a token.
pub(crate) type TokenHash = [u8; 32];

/// Makes a secret of 256 random bits: `prefix` and 64 hexadecimal digits.
///
/// # Errors
/// The operating system gives no random numbers.
pub(crate) fn mint(prefix: &str) -> Result<SecretString, rand::rngs::SysError> {
    Ok(SecretString::from(format!(
        "{prefix}{}",
        random_hex::<32>()?
    )))
}

/// Random hexadecimal digits from the operating system, two for each of `N` bytes.
pub(crate) fn random_hex<const N: usize>() -> Result<String, rand::rngs::SysError> {
    use std::fmt::Write as _;
    let mut bytes = [0_u8; N];
    SysRng.try_fill_bytes(&mut bytes)?;
    let mut hex = String::with_capacity(2 * N);
    for byte in bytes {
        let _ = write!(hex, "{byte:02x}");
    }
    Ok(hex)
}

/// What is kept of a token. Looking up by this hash reveals nothing about the token by its timing, since the
/// caller cannot steer the hash.
pub(crate) fn hash(token: &str) -> TokenHash {
    Sha256::digest(token.as_bytes()).into()
}

/// Compares two hashes in constant time.
pub(crate) fn same(a: &TokenHash, b: &TokenHash) -> bool {
    a.ct_eq(b).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret as _;

    #[test]
    fn tokens_are_long_distinct_and_not_printed() {
        let (a, b) = (mint("wt_").unwrap(), mint("wt_").unwrap());
        assert_eq!(a.expose_secret().len(), 3 + 64);
        assert!(!same(&hash(a.expose_secret()), &hash(b.expose_secret())));
        assert!(same(&hash(a.expose_secret()), &hash(a.expose_secret())));
        assert!(!format!("{a:?}").contains(&a.expose_secret()[3..]));
    }
}
