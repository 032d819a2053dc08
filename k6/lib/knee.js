// The knee of a ramp: more users than that bring no more throughput.

/** A step with more errors than this is past the knee, whatever its throughput. */
const TOLERABLE_ERRORS = 0.01;

/** Throughput that is greater by less than this is the same. */
const SIGNIFICANT = 0.02;

/**
 * The knee among a ramp's phases, which are in order of their users: the step with the most throughput. Of steps that
 * are nearly equal it is the one with the fewest users. Null where every step has too many errors.
 */
export function knee(phases) {
  const eligible = phases.filter((phase) => phase.requests > 0 && phase.error_rate <= TOLERABLE_ERRORS);
  const most = Math.max(...eligible.map((phase) => phase.requests_per_second));
  const found = eligible.find((phase) => phase.requests_per_second >= most * (1 - SIGNIFICANT));
  if (found === undefined) {
    return null;
  }
  return {
    phase: found.name,
    vus: found.vus,
    requests_per_second: found.requests_per_second,
    mean_ms: found.latency_ms.mean,
    p99_ms: found.latency_ms.p99,
    // Throughput that still grows at the last step says that the ramp was too short.
    reached: found !== phases[phases.length - 1],
  };
}
