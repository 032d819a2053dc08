//! What a container uses of the CPU time and memory that it may have, as a series of samples: for whoever measures a
//! gateway in a cluster. `kubectl exec` runs it beside Envoy, in Envoy's control group.
//!
//! The figures are the kernel's, by which it also enforces the limits: control groups of version 2 (Linux's
//! `Documentation/admin-guide/cgroup-v2.rst`) and 1 (`Documentation/admin-guide/cgroup-v1` and
//! `Documentation/scheduler/sched-bwc.rst`).

use std::fs;
use std::io::Write;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where a container sees its control group.
pub(crate) const CONTROL_GROUP: &str = "/sys/fs/cgroup";

/// Where the kernel describes the machine.
pub(crate) const PROC: &str = "/proc";

/// Time between two samples.
const INTERVAL: Duration = Duration::from_millis(100);

/// A reading of the control group.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Sample {
    /// CPU time of all processes so far, in microseconds.
    cpu_us: u64,
    /// Bytes in RAM that processes have mapped: their own and those of files.
    resident: u64,
    /// The limit of CPU time in thousandths of a CPU; none where there is no limit.
    quota_millicores: Option<u64>,
    /// Periods of the limit in which there was something to run, and those in which the limit was reached.
    periods: u64,
    throttled_periods: u64,
    /// For how long processes had to wait for the next period, added up over CPUs, in microseconds.
    throttled_us: u64,
}

/// Writes a line about the machine, and a sample ten times a second for `duration`, each a JSON object.
///
/// # Errors
///
/// There is no control group to read, or nobody reads the output any more.
pub(crate) fn report(
    group: &Path,
    proc: &Path,
    duration: Duration,
    output: &mut impl Write,
) -> Result<(), String> {
    let mut write = |line: String| {
        writeln!(output, "{line}")
            .and_then(|()| output.flush())
            .map_err(|error| format!("the output: {error}"))
    };
    write(machine(proc))?;
    let start = Instant::now();
    loop {
        let sample = read(group)?;
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        write(line(at, sample))?;
        if start.elapsed() >= duration {
            return Ok(());
        }
        sleep(INTERVAL);
    }
}

/// The machine that this runs on: a container sees the host's `/proc/cpuinfo` and `/proc/loadavg`.
fn machine(proc: &Path) -> String {
    let cpus = fs::read_to_string(proc.join("cpuinfo")).unwrap_or_default();
    let model = cpus
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, model)| model));
    let averages = fs::read_to_string(proc.join("loadavg")).unwrap_or_default();
    let averages: Vec<_> =
        averages.split(' ').take(3).filter(|average| average.parse::<f64>().is_ok()).collect();
    // Of what stands there nothing needs escaping but these.
    let model = model.unwrap_or("unknown").replace(['"', '\\'], " ");
    format!(
        r#"{{"cpu":"{model}","virtual":{},"load_average":[{}]}}"#,
        cpus.contains("hypervisor"),
        averages.join(",")
    )
}

fn line(at: Duration, sample: Sample) -> String {
    let quota = sample.quota_millicores.map_or_else(|| "null".to_owned(), |quota| quota.to_string());
    format!(
        concat!(
            r#"{{"at":{}.{:06},"cpu_us":{},"resident_bytes":{},"quota_millicores":{},"#,
            r#""periods":{},"throttled_periods":{},"throttled_us":{}}}"#
        ),
        at.as_secs(),
        at.subsec_micros(),
        sample.cpu_us,
        sample.resident,
        quota,
        sample.periods,
        sample.throttled_periods,
        sample.throttled_us
    )
}

fn read(group: &Path) -> Result<Sample, String> {
    if group.join("cgroup.controllers").exists() { version_2(group) } else { version_1(group) }
}

fn version_2(group: &Path) -> Result<Sample, String> {
    let cpu = text(group, "cpu.stat")?;
    let memory = text(group, "memory.stat")?;
    let limit = text(group, "cpu.max")?;
    let (quota, period) = limit.trim().split_once(' ').ok_or("cpu.max: not two fields")?;
    Ok(Sample {
        cpu_us: field(&cpu, "usage_usec")?,
        resident: field(&memory, "anon")?.saturating_add(field(&memory, "file_mapped")?),
        quota_millicores: millicores(quota, period),
        periods: field(&cpu, "nr_periods")?,
        throttled_periods: field(&cpu, "nr_throttled")?,
        throttled_us: field(&cpu, "throttled_usec")?,
    })
}

fn version_1(group: &Path) -> Result<Sample, String> {
    let cpu = text(group, "cpu/cpu.stat")?;
    let memory = text(group, "memory/memory.stat")?;
    let used = text(group, "cpuacct/cpuacct.usage")?;
    Ok(Sample {
        // This one, and the time of being throttled, are in nanoseconds.
        cpu_us: number("cpuacct.usage", &used)? / 1000,
        resident: field(&memory, "total_rss")?.saturating_add(field(&memory, "total_mapped_file")?),
        quota_millicores: millicores(
            &text(group, "cpu/cpu.cfs_quota_us")?,
            &text(group, "cpu/cpu.cfs_period_us")?,
        ),
        periods: field(&cpu, "nr_periods")?,
        throttled_periods: field(&cpu, "nr_throttled")?,
        throttled_us: field(&cpu, "throttled_time")? / 1000,
    })
}

fn text(group: &Path, file: &str) -> Result<String, String> {
    let path = group.join(file);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The field of a file that has one in each line: `name value`.
fn field(text: &str, name: &str) -> Result<u64, String> {
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    number(name, found.ok_or_else(|| format!("{name}: there is no such field"))?)
}

fn number(name: &str, text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("{name}: not a number: {text}"))
}

/// A quota and its period, in microseconds each, as thousandths of a CPU. No number (`max`, `-1`) is no limit.
fn millicores(quota: &str, period: &str) -> Option<u64> {
    let (quota, period): (u64, u64) = (quota.trim().parse().ok()?, period.trim().parse().ok()?);
    quota.checked_mul(1000)?.checked_div(period)
}

#[cfg(test)]
mod tests {
    use super::{Sample, line, machine, read, report};
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let folder = std::env::temp_dir().join(format!("portcullis-usage-{}-{name}", std::process::id()));
            for (file, content) in files {
                let path = folder.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
            Self(folder)
        }

        fn with(self, file: &str, content: &str) -> Self {
            fs::write(self.0.join(file), content).unwrap();
            self
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn version_1(name: &str) -> Folder {
        Folder::new(
            name,
            &[
                ("cpu/cpu.cfs_quota_us", "25000\n"),
                ("cpu/cpu.cfs_period_us", "100000\n"),
                ("cpu/cpu.stat", "nr_periods 40\nnr_throttled 30\nthrottled_time 1500000000\n"),
                ("cpuacct/cpuacct.usage", "2500000999\n"),
                ("memory/memory.stat", "cache 1\nrss 7\ntotal_rss 1000\ntotal_mapped_file 24\n"),
            ],
        )
    }

    const READ: Sample = Sample {
        cpu_us: 2_500_000,
        resident: 1024,
        quota_millicores: Some(250),
        periods: 40,
        throttled_periods: 30,
        throttled_us: 1_500_000,
    };

    #[test]
    fn reads_control_groups_of_version_1() {
        let folder = version_1("v1");
        assert_eq!(read(&folder.0).unwrap(), READ);
        let unlimited = folder.with("cpu/cpu.cfs_quota_us", "-1\n");
        assert_eq!(read(&unlimited.0).unwrap(), Sample { quota_millicores: None, ..READ });
    }

    #[test]
    fn reads_control_groups_of_version_2() {
        let folder = Folder::new(
            "v2",
            &[
                ("cgroup.controllers", "cpu memory\n"),
                ("cpu.max", "25000 100000\n"),
                (
                    "cpu.stat",
                    "usage_usec 2500000\nuser_usec 1\nnr_periods 40\nnr_throttled 30\nthrottled_usec 1500000\n",
                ),
                ("memory.stat", "anon 1000\nfile 500\nfile_mapped 24\n"),
            ],
        );
        assert_eq!(read(&folder.0).unwrap(), READ);
        let unlimited = folder.with("cpu.max", "max 100000\n");
        assert_eq!(read(&unlimited.0).unwrap(), Sample { quota_millicores: None, ..READ });
    }

    #[test]
    fn says_what_it_cannot_read() {
        let folder = version_1("broken").with("cpu/cpu.stat", "nr_periods 40\n");
        assert_eq!(read(&folder.0).unwrap_err(), "nr_throttled: there is no such field");
        assert!(read(Path::new("/nowhere")).unwrap_err().starts_with("/nowhere/cpu/cpu.stat: "));
    }

    #[test]
    fn a_sample_is_a_line_of_json() {
        assert_eq!(
            line(Duration::from_micros(1_700_000_000_000_042), READ),
            r#"{"at":1700000000.000042,"cpu_us":2500000,"resident_bytes":1024,"quota_millicores":250,"periods":40,"throttled_periods":30,"throttled_us":1500000}"#
        );
        let unlimited = line(Duration::ZERO, Sample { quota_millicores: None, ..READ });
        assert!(unlimited.contains(r#""quota_millicores":null,"#), "{unlimited}");
    }

    #[test]
    fn describes_the_machine() {
        let folder = Folder::new(
            "proc",
            &[
                (
                    "cpuinfo",
                    "processor\t: 0\nmodel name\t: Some \"CPU\" @ 2 GHz\nflags\t\t: fpu hypervisor\n",
                ),
                ("loadavg", "0.50 1.00 2.25 1/200 4242\n"),
            ],
        );
        assert_eq!(
            machine(&folder.0),
            r#"{"cpu":"Some  CPU  @ 2 GHz","virtual":true,"load_average":[0.50,1.00,2.25]}"#
        );
        assert_eq!(machine(Path::new("/nowhere")), r#"{"cpu":"unknown","virtual":false,"load_average":[]}"#);
    }

    #[test]
    fn goes_on_for_as_long_as_it_was_told() {
        let folder = version_1("series");
        let mut output = Vec::new();
        report(&folder.0, Path::new("/nowhere"), Duration::from_millis(150), &mut output).unwrap();
        // The machine, and a sample at the beginning, in between and at the end.
        assert!(String::from_utf8(output).unwrap().lines().count() >= 3);
        let mut output = Vec::new();
        report(&folder.0, Path::new("/nowhere"), Duration::ZERO, &mut output).unwrap();
        assert_eq!(String::from_utf8(output).unwrap().lines().count(), 2);
    }
}
