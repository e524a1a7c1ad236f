//! Canonical JSON and content hashes.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Writes a JSON value without white space and with object keys sorted by their UTF-8 bytes.
///
/// Two values are equal as JSON exactly when their canonical texts are equal bytes (numbers are compared as
/// they are written: `1` and `1.0` differ).
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for (i, key) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                if let Some(item) = map.get(key) {
                    write(item, out);
                }
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// SHA-256 of `bytes` in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::digest(bytes);
    let mut hex = String::with_capacity(64);
    for byte in digest {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// A short content id: `prefix` and the first 16 hexadecimal digits of the SHA-256 of the canonical JSON.
pub fn content_id(prefix: &str, value: &Value) -> String {
    let hex = sha256_hex(canonical_json(value).as_bytes());
    format!("{prefix}{}", &hex[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_order_and_white_space_do_not_matter() {
        let a: Value = serde_json::from_str(r#"{"b":[1,{"y":null,"x":"é\n"}],"a":true}"#).unwrap();
        let b: Value =
            serde_json::from_str(r#" {"a": true, "b":[1, {"x":"é\n","y":null}]} "#).unwrap();
        assert_eq!(canonical_json(&a), canonical_json(&b));
        assert_eq!(
            canonical_json(&a),
            "{\"a\":true,\"b\":[1,{\"x\":\"é\\n\",\"y\":null}]}"
        );
        assert_ne!(
            content_id("ts_", &a),
            content_id("ts_", &json!({"a": true}))
        );
    }

    #[test]
    fn sha256_matches_the_published_vector() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(
            sha256_hex(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
