// What replies of a rate-limited gateway must say: X-RateLimit-Limit, -Remaining and -Reset as MuleSoft's policies have
// them, reset in milliseconds; and 429 when the quota of the window is used up.

import { Counter } from 'k6/metrics';
import { choice, number, seconds } from './settings.js';

export const LIMIT = number('RATE_LIMIT', '80000');
export const PERIOD_MS = seconds('RATE_LIMIT_PERIOD', '6s') * 1000;
export const HEADERS = choice('RATE_LIMIT_HEADERS', ['on', 'off'], 'on');

const FIELDS = ['X-Ratelimit-Limit', 'X-Ratelimit-Remaining', 'X-Ratelimit-Reset'];

/** Requests that had quota, and those that had none. */
export const admitted = new Counter('rate_limit_admitted');
export const refused = new Counter('rate_limit_refused');

/** The most that may be admitted in so many seconds: a window may have begun before, another may end later. */
export function mostAdmitted(seconds) {
  return LIMIT * (Math.ceil((seconds * 1000) / PERIOD_MS) + 1);
}

/** What the summary says about quota. The counts are of the whole run, warm-up included. */
export function counts(metrics, seconds) {
  const count = (name) => (metrics[name] ? metrics[name].values.count : 0);
  return {
    most_admitted: mostAdmitted(seconds),
    admitted: count('rate_limit_admitted'),
    refused: count('rate_limit_refused'),
  };
}

/** Checks, in the manner of k6, of a reply that was admitted or refused. */
export const checks = HEADERS === 'on' ? { ...consistent(), ...counting() } : absent();

function absent() {
  return { 'no rate limit headers': (r) => FIELDS.every((name) => r.headers[name] === undefined) };
}

function consistent() {
  return {
    'rate limit headers are numbers': (r) => FIELDS.every((name) => /^\d+$/.test(r.headers[name])),
    'limit is the configured one': (r) => field(r, 'Limit') === LIMIT,
    'remaining is below the limit': (r) => field(r, 'Remaining') < LIMIT,
    'reset is within the period': (r) => field(r, 'Reset') <= PERIOD_MS,
    'nothing remains to those refused': (r) => r.status !== 429 || field(r, 'Remaining') === 0,
    'those refused are told when to come again': (r) =>
      r.status !== 429 || Number(r.headers['Retry-After']) * 1000 >= field(r, 'Reset') - 1000,
  };
}

// A virtual user sends one request at a time. So within a window each of its replies has less remaining than the one
// before; and a window that was over does not come back.
let last = { remaining: Infinity, end: -Infinity };

function counting() {
  return {
    'remaining goes down within a window': (r) => {
      const now = Date.now();
      const before = last;
      last = { remaining: field(r, 'Remaining'), end: now + field(r, 'Reset') };
      // When a window ends is known as exactly as the reply was fast.
      const sameWindow = Math.abs(last.end - before.end) < PERIOD_MS / 2;
      const spent = r.status === 429 ? last.remaining === 0 : last.remaining < before.remaining;
      return sameWindow ? spent : last.end > before.end;
    },
  };
}

function field(response, name) {
  return Number(response.headers[`X-Ratelimit-${name}`]);
}
