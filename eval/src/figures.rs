//! How figures are written, the same everywhere.

/// Said wherever results of simulated agents are shown.
pub(crate) const SIMULATED: &str = "simulated agents; says nothing about any language model";

/// A share as a whole percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// `3/15 20 % [7, 45]`: count, rate and interval in percent.
pub(crate) fn rate(successes: u64, n: u64, interval: (f64, f64)) -> String {
    if n == 0 {
        return "none".to_owned();
    }
    let share = successes as f64 / n as f64;
    format!(
        "{successes}/{n} {} [{:.0}, {:.0}]",
        percent(share),
        interval.0 * 100.0,
        interval.1 * 100.0
    )
}

/// A difference of shares in percentage points, with its sign.
pub(crate) fn points(difference: f64) -> String {
    signed(difference * 100.0, 0)
}

/// A number with its sign; zero has none.
pub(crate) fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    // Rounding may leave a sign in front of nothing.
    if text.chars().all(|c| matches!(c, '+' | '-' | '0' | '.')) {
        text.trim_start_matches(['+', '-']).to_owned()
    } else {
        text
    }
}

/// A p value: three decimals, more for small ones, never 0.
pub(crate) fn p(value: f64) -> String {
    if value < 0.000_1 {
        "< 0.0001".to_owned()
    } else if value < 0.01 {
        format!("{value:.4}")
    } else {
        format!("{value:.3}")
    }
}

/// `p = 0.031`, or `p < 0.0001`.
pub(crate) fn p_is(value: f64) -> String {
    let shown = p(value);
    if shown.starts_with('<') {
        format!("p {shown}")
    } else {
        format!("p = {shown}")
    }
}

/// A probability: three decimals, never 0 or 1.
pub(crate) fn probability(value: f64) -> String {
    if value > 0.999 {
        "over 0.999".to_owned()
    } else if value < 0.001 {
        "below 0.001".to_owned()
    } else {
        format!("{value:.3}")
    }
}

/// An e-value: beyond a million its digits say nothing.
pub(crate) fn large(value: f64) -> String {
    if value > 1e6 {
        "over a million".to_owned()
    } else {
        number(value)
    }
}

/// A mean with a decimal, or more when it is small.
pub(crate) fn number(value: f64) -> String {
    if value.abs() >= 1000.0 {
        format!("{value:.0}")
    } else if value.abs() >= 1.0 || value.abs() < f64::EPSILON {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// A text of a model, a server or a file for one line of a terminal or a log: control characters and what
/// changes the direction of writing are shown as escapes.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let hidden = c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
            let escaped: Vec<char> = if hidden { c.escape_default().collect() } else { vec![c] };
            escaped
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(rate(3, 15, (0.0705, 0.4523)), "3/15 20 % [7, 45]");
        assert_eq!(rate(0, 0, (0.0, 1.0)), "none");
        assert_eq!(points(0.1333), "+13");
        assert_eq!(points(-0.004), "0");
        assert_eq!(signed(-0.04, 1), "0.0");
        assert_eq!(signed(-1.25, 1), "-1.2");
        assert_eq!(
            (p(0.0625), p(0.00312), p(0.0)),
            (
                "0.062".to_owned(),
                "0.0031".to_owned(),
                "< 0.0001".to_owned()
            )
        );
        assert_eq!(
            (
                probability(0.99999),
                probability(0.0),
                probability(0.5),
                large(1e18),
                large(28.44)
            ),
            (
                "over 0.999".to_owned(),
                "below 0.001".to_owned(),
                "0.500".to_owned(),
                "over a million".to_owned(),
                "28.4".to_owned()
            )
        );
        assert_eq!(
            (number(0.0), number(0.25), number(7.33), number(19_012.4)),
            ("0.0".into(), "0.25".into(), "7.3".into(), "19012".into())
        );
    }

    #[test]
    fn hostile_text_stays_on_its_line() {
        assert_eq!(
            one_line("a\nb\u{1b}[31mc\u{202e}d"),
            "a\\nb\\u{1b}[31mc\\u{202e}d"
        );
        assert_eq!(one_line("größe 5 €"), "größe 5 €");
    }
}
