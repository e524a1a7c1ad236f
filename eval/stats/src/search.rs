//! The smallest number that is enough.

/// Numbers beyond this are not looked at: nobody plays so many scenarios.
const MOST: u64 = 1 << 20;

/// The smallest number from `from` on that is enough, when every larger one is enough as well; `None` beyond a million.
pub(crate) fn fewest(from: u64, enough: impl Fn(u64) -> bool) -> Option<u64> {
    if enough(from) {
        return Some(from);
    }
    let (mut low, mut high) = (from, from.max(1) * 2);
    while !enough(high) {
        low = high;
        high *= 2;
        if high > MOST {
            return None;
        }
    }
    while low + 1 < high {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_that_is_enough_is_found() {
        for first in [0, 1, 2, 3, 6, 7, 8, 1000, 99_999] {
            for from in [0, 1, 6] {
                assert_eq!(
                    fewest(from, |n| n >= first),
                    Some(first.max(from)),
                    "{from} {first}"
                );
            }
        }
        assert_eq!(fewest(2, |_| false), None);
    }
}
