// Client-ID enforcement with id and secret in query parameters, an upstream that takes 70 ms, a ramp of users: the
// Mule 4.3 performance report. The result is the knee point.

import { filler } from '../lib/filler.js';
import { credentials, exchange } from '../lib/gateway.js';
import { plan } from '../lib/plan.js';
import { policies, probe } from '../lib/policies.js';
import { MULE_STEPS, RAMP, rampOf } from '../lib/ramp.js';
import { number, sizes } from '../lib/settings.js';

const [size] = sizes('SIZE', '1K');
const delay = number('DELAY', 70);
const run = plan('mule-client-id', rampOf(MULE_STEPS, { size, delay }), RAMP);
const as = credentials('query');
const expected = policies('client-id');

export const options = run.options;
export const handleSummary = run.handleSummary;

export function setup() {
  probe(expected, as);
}

export default function () {
  run.enter();
  exchange(
    { path: `/?size=${size}&delay_ms=${delay}`, as },
    { body: filler(size), headers: { 'Content-Type': 'text/plain' } },
  );
}
