//! Times as exporters write them; all of them UTC unless they say otherwise.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

/// UTC microseconds of a time in any of the known spellings.
pub(crate) fn parse(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => parse_text(text),
        Value::Number(number) => {
            let whole = number.as_i64().map(i128::from);
            whole.map_or_else(|| number.as_f64().and_then(from_seconds), from_epoch)
        }
        _ => None,
    }
}

fn parse_text(text: &str) -> Option<i64> {
    let text = text.trim().trim_matches('"');
    if text.is_empty() {
        return None;
    }
    if let Ok(number) = text.parse::<i128>() {
        return from_epoch(number);
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment.as_microsecond());
    }
    // Without a zone: UTC, never the reader's own.
    let civil: DateTime = text.parse().ok()?;
    TimeZone::UTC
        .to_timestamp(civil)
        .ok()
        .map(Timestamp::as_microsecond)
}

/// An epoch number's unit is told by its size: each range covers the years 1973 to 5138 in its own unit.
fn from_epoch(number: i128) -> Option<i64> {
    let us = match number.unsigned_abs() {
        0..100_000_000_000 => number * 1_000_000,
        100_000_000_000..100_000_000_000_000 => number * 1000,
        100_000_000_000_000..100_000_000_000_000_000 => number,
        _ => number / 1000,
    };
    i64::try_from(us).ok()
}

fn from_seconds(seconds: f64) -> Option<i64> {
    let us = (seconds * 1e6).round();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range is checked first"
    )]
    (us.abs() < 9e18).then_some(us as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_spelling_is_utc() {
        const MOMENT: i64 = 1_746_093_600_123_000;
        for value in [
            json!("2025-05-01T10:00:00.123Z"),
            json!("2025-05-01T10:00:00.123000+00:00"),
            json!("2025-05-01T12:00:00.123+02:00"),
            json!("2025-05-01 10:00:00.123"),
            json!("2025-05-01 10:00:00.123000"),
            json!("2025-05-01 10:00:00.123000+00:00"),
            json!("2025-05-01T10:00:00.123"),
            json!("\"2025-05-01T10:00:00.123Z\""),
            json!("1746093600123"),
            json!(1_746_093_600_123_i64),
            json!("1746093600123000000"),
            json!(1_746_093_600.123),
        ] {
            assert_eq!(parse(&value), Some(MOMENT), "{value}");
        }
        for value in [
            json!(""),
            json!("soon"),
            json!(null),
            json!({}),
            json!(1e300),
        ] {
            assert_eq!(parse(&value), None, "{value}");
        }
        let huge = "9".repeat(30);
        assert_eq!(parse(&json!(huge)), None);
    }
}
