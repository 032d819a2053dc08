//! A number in decimal digits.

/// A finite number without its sign: `0.d1d2d3... × 10^point`. Nought has no digits; else the first is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    /// The digits that tell the number from all others, multiplied by 10 to the power of `scale`.
    pub(super) fn of(number: f64, scale: i64) -> Self {
        let text = format!("{:e}", number.abs());
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits: Vec<u8> =
            digits.bytes().filter(u8::is_ascii_digit).map(|digit| digit.saturating_sub(b'0')).collect();
        if digits.first().is_none_or(|digit| *digit == 0) {
            return Self { digits: Vec::new(), point: 0 };
        }
        let exponent: i64 = exponent.parse().unwrap_or(0);
        Self { digits, point: exponent.saturating_add(1).saturating_add(scale) }
    }

    /// Rounds to so many digits behind the point; what lies in the middle goes to the even neighbour.
    pub(super) fn round(&mut self, places: usize) {
        let kept = self.point.saturating_add(i64::try_from(places).unwrap_or(i64::MAX));
        let Ok(kept) = usize::try_from(kept) else {
            // Less than a tenth of the last place.
            (self.digits, self.point) = (Vec::new(), 0);
            return;
        };
        let Some(first) = self.digits.get(kept).copied() else { return };
        let more = self.digits.iter().skip(kept.saturating_add(1)).any(|digit| *digit > 0);
        let last = kept.checked_sub(1).and_then(|last| self.digits.get(last)).copied().unwrap_or(0);
        let up = first > 5 || (first == 5 && (more || last % 2 == 1));
        self.digits.truncate(kept);
        if up {
            self.increment();
        }
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
    }

    /// Adds one to the last digit.
    fn increment(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit = digit.saturating_add(1);
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
        self.point = self.point.saturating_add(1);
    }

    /// The digits before the point, without leading noughts.
    pub(super) fn integer(&self) -> impl ExactSizeIterator<Item = u8> + '_ {
        let count = if self.digits.is_empty() { 0 } else { usize::try_from(self.point).unwrap_or(0) };
        (0..count).map(|index| self.digits.get(index).copied().unwrap_or(0))
    }

    /// The digits behind the point, without trailing noughts.
    pub(super) fn fraction(&self) -> impl ExactSizeIterator<Item = u8> + '_ {
        let all = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        let count = if all == 0 { 0 } else { usize::try_from(all.saturating_sub(self.point)).unwrap_or(0) };
        (0..count).map(|index| {
            let index = self.point.saturating_add(i64::try_from(index).unwrap_or(i64::MAX));
            usize::try_from(index).ok().and_then(|index| self.digits.get(index)).copied().unwrap_or(0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(number: f64, scale: i64, places: usize) -> String {
        let mut decimal = Decimal::of(number, scale);
        decimal.round(places);
        let digits = |digits: Vec<u8>| digits.iter().map(u8::to_string).collect::<String>();
        format!("{}.{}", digits(decimal.integer().collect()), digits(decimal.fraction().collect()))
    }

    #[test]
    fn has_the_shortest_digits() {
        for (number, scale, expected) in [
            (0.0, 0, "."),
            (0.1, 0, ".1"),
            (0.000_25, 0, ".00025"),
            (1.0, 0, "1."),
            (1200.0, 0, "1200."),
            (1200.034, 0, "1200.034"),
            (-5.5, 0, "5.5"),
            (0.4857, 2, "48.57"),
            (0.4857, 3, "485.7"),
            (0.001, 2, ".1"),
            (5.0, 2, "500."),
            (1e21, 0, "1000000000000000000000."),
            (f64::MIN_POSITIVE, 307, ".22250738585072014"),
        ] {
            assert_eq!(shown(number, scale, 400), expected, "{number} {scale}");
        }
    }

    #[test]
    fn rounds_to_the_even_neighbour() {
        for (number, places, expected) in [
            (0.5, 0, "."),
            (1.5, 0, "2."),
            (2.5, 0, "2."),
            (2.500_001, 0, "3."),
            (0.25, 1, ".2"),
            (0.35, 1, ".4"),
            (9.96, 1, "10."),
            (99.5, 0, "100."),
            (0.96, 1, "1."),
            (0.95, 1, "1."),
            (0.6, 0, "1."),
            (0.06, 0, "."),
            (0.004, 2, "."),
            (0.006, 2, ".01"),
            (0.04, 0, "."),
            (1.1, 5, "1.1"),
            (1.10, 1, "1.1"),
            (1.01, 1, "1."),
            (1e21, 2, "1000000000000000000000."),
        ] {
            assert_eq!(shown(number, 0, places), expected, "{number} {places}");
        }
    }
}
