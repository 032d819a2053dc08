// The same mixture of requests for hours: small and large, GET and POST, sound credentials and wrong ones. The phases
// are equal parts of the time, so that the summary shows whether latency or errors grow.

import { filler } from '../lib/filler.js';
import { carry, credentials, exchange } from '../lib/gateway.js';
import { plan } from '../lib/plan.js';
import { policies, probe } from '../lib/policies.js';
import { number, sizes } from '../lib/settings.js';

const vus = number('VUS', 50, 2);
const parts = number('PARTS', 24, 2);
const replySizes = sizes('SIZE', '1K,10K,100K');
const run = plan(
  'soak',
  Array.from({ length: parts }, (_, n) => ({
    name: `part-${n + 1}`,
    vus,
    // Users go on without a pause from one part to the next.
    ...(n > 0 && { warmup: 0 }),
  })),
  {
    defaults: { DURATION: '10m', WARMUP: '1m' },
    conclude: (phases) => ({ drift: drift(phases) }),
  },
);
const as = credentials('headers');
const stranger = carry(as.where, 'nobody', 'wrong');
const expected = policies('client-id');

export const options = run.options;
export const handleSummary = run.handleSummary;

export function setup() {
  probe(expected, as);
}

export default function () {
  run.enter();
  if (__ITER % 10 === 9 && expected.includes('client-id')) {
    const isRefusal = (body) => body !== null && body.length > 0;
    exchange({ path: '/', as: stranger }, { status: 401, body: isRefusal, tagged: false });
    return;
  }
  const size = replySizes[__ITER % replySizes.length];
  const isPost = __ITER % 2 === 1;
  exchange(
    { method: isPost ? 'POST' : 'GET', path: `/?size=${size}`, body: isPost ? filler(1024) : null, as },
    {
      body: filler(size),
      headers: { 'Content-Type': 'text/plain', 'X-Echo-Received': isPost ? '1024' : undefined },
    },
  );
}

/** The last part beside the first: 1 is no change. */
function drift(phases) {
  const [first, last] = [phases[0], phases[phases.length - 1]];
  return first.requests > 0 && last.requests > 0
    ? {
        requests_per_second: last.requests_per_second / first.requests_per_second,
        p50: last.latency_ms.p50 / first.latency_ms.p50,
        p99: last.latency_ms.p99 / first.latency_ms.p99,
      }
    : null;
}
