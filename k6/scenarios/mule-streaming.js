// A reply of 1 MB that the upstream streams without saying its length, with a delay of 70 ms and a ramp of users: the
// Mule 4.3 performance report, which compares a gateway that streams with one that buffers. The result is the knee
// point. The time to the first byte tells them apart.

import { filler } from '../lib/filler.js';
import { credentials, exchange } from '../lib/gateway.js';
import { plan } from '../lib/plan.js';
import { policies, probe } from '../lib/policies.js';
import { MULE_STEPS, RAMP, rampOf } from '../lib/ramp.js';
import { number, sizes } from '../lib/settings.js';

const [size] = sizes('SIZE', '1M');
const delay = number('DELAY', 70);
const run = plan('mule-streaming', rampOf(MULE_STEPS, { size, delay }), {
  ...RAMP,
  trends: { first_byte_ms: 'http_req_waiting' },
});
const as = credentials('headers');
const expected = policies('none');

export const options = run.options;
export const handleSummary = run.handleSummary;

export function setup() {
  probe(expected, as);
}

export default function () {
  run.enter();
  exchange(
    { path: `/?size=${size}&delay_ms=${delay}&stream=true`, as },
    { body: filler(size), headers: { 'Content-Type': 'text/plain' } },
  );
}
