//! Whether something grows.

use std::time::Duration;

use crate::results::LongRun;

/// What was seen at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Since the beginning.
    pub(super) at: Duration,
    /// Resident memory of Envoy.
    pub(super) resident_kib: u64,
    /// Its open file descriptors.
    pub(super) descriptors: u64,
    /// Requests answered so far.
    pub(super) answered: u64,
}

/// What comes before is the filling of caches and tables.
const WARM_UP: f64 = 1.0 / 3.0;

/// Growth that is none: a hundredth of all memory, for allocators keep what they have had.
const TOLERANCE: f64 = 0.01;

/// File descriptors come and go with connections.
const SOME_DESCRIPTORS: f64 = 8.0;

/// Judges a run by its samples after a third of it. Memory grows if the median of the last fifth of them is above that of
/// the first by more than what samples differ from their trend (twice the interquartile range of the residuals of a
/// least-squares line), by more than a hundredth, and if it does so all the time: in each third of them by at least a third
/// of its share. What is lost adds up; a step is the most that was needed at a time, which a VM does not give back.
pub(super) fn judge(samples: &[Sample]) -> LongRun {
    let after = (samples.len() as f64 * WARM_UP) as usize;
    let judged = &samples[after.min(samples.len())..];
    let ([first, .., last], [.., end]) = (judged, samples) else { return too_short(samples.len()) };
    if judged.len() < 5 {
        return too_short(samples.len());
    }
    let times: Vec<f64> = judged.iter().map(|sample| sample.at.as_secs_f64()).collect();
    let memory: Vec<f64> = judged.iter().map(|sample| sample.resident_kib as f64 / 1024.0).collect();
    let descriptors: Vec<f64> = judged.iter().map(|sample| sample.descriptors as f64).collect();
    let (slope, noise) = trend(&times, &memory);
    let seconds = (last.at - first.at).as_secs_f64();
    let mut run = LongRun {
        minutes: end.at.as_secs_f64() / 60.0,
        pushes: 0,
        requests: end.answered,
        requests_per_second: (last.answered - first.answered) as f64 / seconds,
        memory_mib: median(&memory),
        growth_mib: growth(&memory),
        slope_mib_per_hour: slope * 3600.0,
        noise_mib: noise,
        descriptors_growth: growth(&descriptors),
        faults: Vec::new(),
    };
    let all_the_time =
        memory.chunks(memory.len().div_ceil(3)).all(|third| growth(third) > run.growth_mib / 9.0);
    if run.growth_mib > (2.0 * noise).max(TOLERANCE * run.memory_mib) && all_the_time {
        run.faults.push(format!("memory grows: {:.1} MiB in {seconds:.0} s", run.growth_mib));
    }
    if run.descriptors_growth > SOME_DESCRIPTORS {
        run.faults.push(format!("file descriptors grow: {}", run.descriptors_growth));
    }
    run
}

fn too_short(samples: usize) -> LongRun {
    LongRun {
        minutes: 0.0,
        pushes: 0,
        requests: 0,
        requests_per_second: 0.0,
        memory_mib: 0.0,
        growth_mib: 0.0,
        slope_mib_per_hour: 0.0,
        noise_mib: 0.0,
        descriptors_growth: 0.0,
        faults: vec![format!("{samples} samples are too few to judge by")],
    }
}

/// The median of the last fifth, less that of the first.
fn growth(values: &[f64]) -> f64 {
    let fifth = (values.len() / 5).max(1);
    median(&values[values.len() - fifth..]) - median(&values[..fifth])
}

/// The slope of the least-squares line, and the interquartile range of what is left.
fn trend(times: &[f64], values: &[f64]) -> (f64, f64) {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_time, mean_value) = (mean(times), mean(values));
    let products = times.iter().zip(values).map(|(time, value)| (time - mean_time) * (value - mean_value));
    let squares = times.iter().map(|time| (time - mean_time).powi(2));
    let slope = products.sum::<f64>() / squares.sum::<f64>().max(f64::MIN_POSITIVE);
    let mut residuals: Vec<f64> = times
        .iter()
        .zip(values)
        .map(|(time, value)| value - mean_value - slope * (time - mean_time))
        .collect();
    residuals.sort_by(f64::total_cmp);
    let quartile = |part: usize| residuals[(residuals.len() - 1) * part / 4];
    (slope, quartile(3) - quartile(1))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples whose memory and descriptors are functions of their number.
    fn samples(resident: impl Fn(u64) -> u64, descriptors: impl Fn(u64) -> u64) -> Vec<Sample> {
        let sample = |n| Sample {
            at: Duration::from_secs(5 * n),
            resident_kib: resident(n),
            descriptors: descriptors(n),
            answered: n * 1000,
        };
        (0..120).map(sample).collect()
    }

    /// Up and down by some 2 MiB.
    fn wave(n: u64) -> u64 {
        200_000 + n * 7919 % 2048
    }

    #[test]
    fn what_fills_up_and_stays_does_not_grow() {
        let filling = samples(|n| wave(n) + (n * 4000).min(150_000), |n| 40 + n % 4);
        assert_eq!(judge(&filling).faults, Vec::<String>::new());
    }

    #[test]
    fn a_step_is_no_growth() {
        let step = samples(|n| wave(n) + if n < 80 { 0 } else { 20_000 }, |_| 40);
        assert_eq!(judge(&step).faults, Vec::<String>::new());
    }

    #[test]
    fn what_leaks_grows() {
        // 120 KiB in five seconds are 80 MiB in an hour.
        let leaking = samples(|n| wave(n) + n * 120, |n| 40 + n % 4);
        assert_eq!(judge(&leaking).faults.len(), 1, "memory");
        let descriptors = samples(wave, |n| 40 + n / 4);
        assert_eq!(judge(&descriptors).faults.len(), 1, "descriptors");
    }

    #[test]
    fn a_run_that_is_too_short_is_no_proof() {
        assert_eq!(judge(&samples(wave, |_| 40)[..6]).faults.len(), 1);
    }
}
