// A limit of 80,000 requests per 6 s, with and without X-RateLimit headers, an upstream that takes 70 ms, a ramp of
// users: the Mule 4.3 performance report. The result is the knee point. What the headers say must be consistent, and
// no more than the limit may pass.

import { filler } from '../lib/filler.js';
import { credentials, send, verify } from '../lib/gateway.js';
import { plan } from '../lib/plan.js';
import { policies, probe } from '../lib/policies.js';
import { MULE_STEPS, RAMP, rampOf } from '../lib/ramp.js';
import { admitted, checks, counts, HEADERS, mostAdmitted, refused } from '../lib/rate-limit.js';
import { number, sizes } from '../lib/settings.js';

const [size] = sizes('SIZE', '1K');
const delay = number('DELAY', 70);
const run = plan('mule-rate-limit', rampOf(MULE_STEPS, { size, delay }), {
  ...RAMP,
  conclude: (phases, metrics) => ({ ...RAMP.conclude(phases), rate_limit: counts(metrics, run.seconds) }),
});
const as = credentials('headers');
const expected = policies(HEADERS === 'on' ? 'rate-limit' : 'none');

export const options = {
  ...run.options,
  thresholds: { ...run.options.thresholds, rate_limit_admitted: [`count<=${mostAdmitted(run.seconds)}`] },
};
export const handleSummary = run.handleSummary;

export function setup() {
  probe(expected, as);
}

export default function () {
  run.enter();
  const response = send({ path: `/?size=${size}&delay_ms=${delay}`, as });
  if (response.status === 429) {
    refused.add(1);
    verify(response, { status: 429, body: (body) => body !== null, tagged: false, also: checks });
  } else {
    admitted.add(1);
    verify(response, { body: filler(size), headers: { 'Content-Type': 'text/plain' }, also: checks });
  }
}
