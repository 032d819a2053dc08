// A sudden crowd: VUS users, then SPIKE_VUS at once, then VUS again. During the spike the gateway may refuse a part of
// the requests (SPIKE_ERRORS), but what it answers must be right; before and after it must be as good as ever.

import { filler } from '../lib/filler.js';
import { credentials, exchange } from '../lib/gateway.js';
import { plan } from '../lib/plan.js';
import { policies, probe } from '../lib/policies.js';
import { number, seconds, sizes } from '../lib/settings.js';

const vus = number('VUS', 50, 2);
const spikeVus = number('SPIKE_VUS', 1000, 20);
const spikeErrors = number('SPIKE_ERRORS', '0.05');
const recovery = seconds('RECOVERY', '5s', '500ms');
const [size] = sizes('SIZE', '1K');
const delay = number('DELAY', 0);
const run = plan('spike', [
  { name: 'before', vus, size, delay },
  { name: 'spike', vus: spikeVus, size, delay, warmup: 0, errors: spikeErrors, p95: Infinity },
  { name: 'after', vus, size, delay, warmup: recovery },
]);
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
    { path: `/?size=${size}&delay_ms=${delay}`, as },
    { body: filler(size), headers: { 'Content-Type': 'text/plain' } },
  );
}
