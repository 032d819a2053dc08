//! Order statistics.

use std::fmt;

/// Median and quartiles of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quartiles {
    lower: f64,
    median: f64,
    upper: f64,
}

impl Quartiles {
    /// Of a sample that is not empty; by linear interpolation between the neighbours.
    pub fn of(sample: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = sample.collect();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (sorted.len() - 1) as f64;
            let below = sorted[place.floor() as usize];
            let above = sorted[place.ceil() as usize];
            below + (above - below) * place.fract()
        };
        Self { lower: at(0.25), median: at(0.5), upper: at(0.75) }
    }
}

impl fmt::Display for Quartiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ({:.1} to {:.1})", self.median, self.lower, self.upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolates_between_neighbours() {
        let quartiles = Quartiles::of([4.0, 1.0, 3.0, 2.0].into_iter());
        assert_eq!(quartiles, Quartiles { lower: 1.75, median: 2.5, upper: 3.25 });
        assert_eq!(Quartiles::of([7.0].into_iter()).to_string(), "7.0 (7.0 to 7.0)");
    }
}
