//! The one place that reads the wall clock.

/// Now, in UTC microseconds since the Unix epoch.
pub fn now_us() -> i64 {
    jiff::Timestamp::now().as_microsecond()
}

/// Writes a time of the record as RFC 3339 with microseconds, for people.
///
/// A value outside the calendar's range is written as the bare number.
pub fn rfc3339(us: i64) -> String {
    jiff::Timestamp::from_microsecond(us).map_or_else(|_| us.to_string(), |t| t.to_string())
}
