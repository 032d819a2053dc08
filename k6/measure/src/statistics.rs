//! Order statistics, and how far they can be trusted.

use std::fmt;

/// How often a sample is drawn anew for an interval.
const RESAMPLES: usize = 2000;

/// Median and quartiles of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quartiles {
    /// A quarter of the sample is below.
    pub lower: f64,
    /// Half of the sample is below.
    pub median: f64,
    /// Three quarters of the sample are below.
    pub upper: f64,
}

impl Quartiles {
    /// Of a sample that is not empty; by linear interpolation between the neighbours.
    pub fn of(sample: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = sample.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |share| interpolated(&sorted, share);
        Self { lower: at(0.25), median: at(0.5), upper: at(0.75) }
    }
}

impl fmt::Display for Quartiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ({:.1} to {:.1})", self.median, self.lower, self.upper)
    }
}

/// The median of a sample that is not empty.
#[must_use]
pub fn median(sample: &[f64]) -> f64 {
    Quartiles::of(sample.iter().copied()).median
}

/// A figure computed from rounds, with the interval in which it lies with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The figure of all rounds.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Interval {
    /// By the percentile bootstrap (Efron, 1979) over rounds: rounds are drawn with replacement, as many as there are,
    /// and whole, so that what was measured in one round stays together. The same rounds give the same interval.
    ///
    /// `rounds` must not be empty.
    pub fn of<Round>(rounds: &[Round], figure: impl Fn(&[&Round]) -> f64) -> Self {
        let mut random = fastrand::Rng::with_seed(0x5eed);
        let mut figures: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let drawn: Vec<&Round> =
                    rounds.iter().map(|_| &rounds[random.usize(..rounds.len())]).collect();
                figure(&drawn)
            })
            .collect();
        figures.sort_by(f64::total_cmp);
        Self {
            value: figure(&rounds.iter().collect::<Vec<_>>()),
            low: interpolated(&figures, 0.025),
            high: interpolated(&figures, 0.975),
        }
    }

    /// Of the median of a sample that is not empty.
    #[must_use]
    pub fn of_median(sample: &[f64]) -> Self {
        Self::of(sample, |drawn| Quartiles::of(drawn.iter().map(|value| **value)).median)
    }

    /// As JSON: `[value, low, high]`.
    #[must_use]
    pub fn to_json(self) -> serde_json::Value {
        serde_json::json!([self.value, self.low, self.high])
    }
}

impl fmt::Display for Interval {
    /// With as many decimals as the formatter says; one if it says nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = f.precision().unwrap_or(1);
        let Self { value, low, high } = self;
        write!(f, "{value:.decimals$} ({low:.decimals$} to {high:.decimals$})")
    }
}

fn interpolated(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolates_between_neighbours() {
        let quartiles = Quartiles::of([4.0, 1.0, 3.0, 2.0]);
        assert_eq!(quartiles, Quartiles { lower: 1.75, median: 2.5, upper: 3.25 });
        assert_eq!(Quartiles::of([7.0]).to_string(), "7.0 (7.0 to 7.0)");
    }

    #[test]
    fn the_interval_narrows_with_more_rounds_and_covers_the_truth() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut sample = |size| -> Vec<f64> { (0..size).map(|_| 10.0 + random.f64()).collect() };
        let (few, many) = (Interval::of_median(&sample(20)), Interval::of_median(&sample(400)));
        for interval in [few, many] {
            assert!(interval.low <= 10.5 && 10.5 <= interval.high, "{interval}");
            assert!(interval.low <= interval.value && interval.value <= interval.high, "{interval}");
        }
        assert!(many.high - many.low < few.high - few.low);
    }

    #[test]
    fn what_was_measured_in_one_round_stays_together() {
        // The difference is 1 in each round, however much the rounds differ.
        let rounds: Vec<[f64; 2]> = (0..50).map(|n| [f64::from(n * n), f64::from(n * n) + 1.0]).collect();
        let over = Interval::of(&rounds, |drawn| {
            Quartiles::of(drawn.iter().map(|[without, with]| with - without)).median
        });
        assert_eq!(over, Interval { value: 1.0, low: 1.0, high: 1.0 });
        assert_eq!(format!("{over:.2}"), "1.00 (1.00 to 1.00)");
    }
}
