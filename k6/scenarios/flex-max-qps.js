// The most requests per second: GET with a reply of 1 KB; client-ID enforcement and an access log, as in the Flex
// Gateway benchmarking guide. Users are added step by step; how much CPU the gateway has is set outside.

import { filler } from '../lib/filler.js';
import { credentials, exchange } from '../lib/gateway.js';
import { plan } from '../lib/plan.js';
import { policies, probe } from '../lib/policies.js';
import { RAMP, rampOf } from '../lib/ramp.js';
import { sizes } from '../lib/settings.js';

const [size] = sizes('SIZE', '1K');
const run = plan('flex-max-qps', rampOf('10,25,50,100,200,300,400', { size }), RAMP);
const as = credentials('headers');
const expected = policies('client-id');

export const options = run.options;
export const handleSummary = run.handleSummary;

export function setup() {
  probe(expected, as);
}

export default function () {
  run.enter();
  exchange(
    { path: `/?size=${size}`, as },
    { body: filler(size), headers: { 'Content-Type': 'text/plain' } },
  );
}
