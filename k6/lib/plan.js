// A plan: the phases of a run, one after another, each with a number of virtual users and what else it varies.
//
// The run is one scenario with a ramp of virtual users in steps. Each phase begins with a warm-up, which counts for
// nothing; requests that are sent after it have the tag `phase`, so that k6 has each metric for each phase.

import exec from 'k6/execution';
import { Gauge } from 'k6/metrics';
import { choice, number, seconds } from './settings.js';
import { summarise } from './summary.js';

/** Statistics that k6 shall keep; summary.js reads them. */
const STATISTICS = ['count', 'avg', 'min', 'med', 'p(90)', 'p(95)', 'p(99)', 'p(99.9)', 'max'];

/** How long requests that are under way may take when the run is over, or a virtual user is not needed any more. */
const GRACE = '30s';

/** A threshold that every trend is within. */
const ALWAYS = 'max>-1e9';

const WARM_UP = 'warm-up';

/** When the first phase began, in milliseconds since the epoch: to compare with what others measured meanwhile. */
const began = new Gauge('scenario_began');

/**
 * Makes a plan.
 *
 * script    the name of the script, for the summary
 * phases    objects with a `name` (letters, digits, - and _), the virtual users `vus`, and whatever the script needs;
 *           `delay` is the upstream's, in milliseconds. Optional: `warmup` and `duration` in seconds; `p95`, the
 *           longest that 95 % of the requests may take in milliseconds, Infinity for no limit; `errors`, the part of
 *           the requests that may fail
 * defaults  WARMUP, DURATION, P95 and ERRORS for a whole run
 * trends    more metrics whose statistics go into the summary: { key in the summary: name of the metric }
 * conclude  makes of the phases' results, and of k6's metrics, what the summary says about the whole
 * options   more options for k6
 */
export function plan(script, phases, { defaults = {}, trends = {}, conclude, options = {} } = {}) {
  const warmup = seconds('WARMUP', defaults.WARMUP || '10s', '500ms');
  const duration = seconds('DURATION', defaults.DURATION || '60s', '2s');
  const p95 = number('P95', defaults.P95 || 2000, 2000);
  const errors = number('ERRORS', defaults.ERRORS || 0, 0);

  let end = 0;
  const timetable = phases.map((phase) => {
    const timed = { warmup, duration, errors, p95: p95 + (phase.delay || 0), ...phase };
    const start = end + timed.warmup;
    end = start + timed.duration;
    return { ...timed, start, end };
  });
  const measured = { latency_ms: 'http_req_duration', ...trends };

  return {
    options: {
      scenarios: { [script]: ramp(timetable) },
      thresholds: thresholds(timetable, measured),
      summaryTrendStats: STATISTICS,
      insecureSkipTLSVerify: choice('INSECURE', ['yes', 'no'], 'no') === 'yes',
      ...options,
    },
    phases: timetable,
    seconds: end,
    enter: () => enter(timetable),
    handleSummary: (data) => summarise(data, script, timetable, measured, conclude),
  };
}

function ramp(timetable) {
  return {
    executor: 'ramping-vus',
    startVUs: timetable[0].vus,
    stages: timetable.flatMap((phase) => [
      { target: phase.vus, duration: '0s' },
      { target: phase.vus, duration: `${Math.round((phase.warmup + phase.duration) * 1000)}ms` },
    ]),
    gracefulRampDown: GRACE,
    gracefulStop: GRACE,
  };
}

// k6 keeps a metric for a tag only where there is a threshold for it, so those that cannot fail are there for the sake
// of the summary.
function thresholds(timetable, measured) {
  const all = {};
  for (const { name, p95, errors } of timetable) {
    for (const metric of Object.values(measured)) {
      all[`${metric}{phase:${name}}`] = [ALWAYS];
    }
    if (p95 !== Infinity) {
      all[`http_req_duration{phase:${name}}`] = [`p(95)<${p95}`];
    }
    all[`verified_replies{phase:${name}}`] = ['count>0'];
    all[`failed_replies{phase:${name}}`] = [`rate<=${errors}`];
    all[`corrupt_replies{phase:${name}}`] = ['rate==0'];
    all[`latency_squares{phase:${name}}`] = ['count>=0'];
  }
  return all;
}

// The phase that this virtual user was in last: time goes forward only.
let at = 0;

/** The phase that it is time for. What is measured from here on belongs to it. */
function enter(timetable) {
  if (__ITER === 0) {
    began.add(exec.scenario.startTime);
  }
  const now = (Date.now() - exec.scenario.startTime) / 1000;
  while (at < timetable.length - 1 && now >= timetable[at].end) {
    at += 1;
  }
  const phase = timetable[at];
  exec.vu.metrics.tags.phase = now >= phase.start && now < phase.end ? phase.name : WARM_UP;
  return phase;
}
