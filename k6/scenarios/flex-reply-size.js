// Replies of 1 to 200 KB to a request of 1 KB; client-ID enforcement and an access log: the sizing runs of the Flex
// Gateway benchmarking guide.

import { filler } from '../lib/filler.js';
import { credentials, exchange } from '../lib/gateway.js';
import { plan } from '../lib/plan.js';
import { policies, probe } from '../lib/policies.js';
import { number, readableSize, sizes } from '../lib/settings.js';

const vus = number('VUS', 200, 2);
const [requestSize] = sizes('REQUEST_SIZE', '1K');
const run = plan(
  'flex-reply-size',
  sizes('SIZE', '1K,5K,10K,25K,50K,100K,150K,200K', '1K,200K').map((size) => ({
    name: `reply-${readableSize(size)}`,
    vus,
    size,
  })),
);
const as = credentials('headers');
const expected = policies('client-id');

export const options = run.options;
export const handleSummary = run.handleSummary;

export function setup() {
  probe(expected, as);
}

export default function () {
  const { size } = run.enter();
  exchange(
    { method: 'POST', path: `/?size=${size}`, body: filler(requestSize), as },
    {
      body: filler(size),
      headers: { 'Content-Type': 'text/plain', 'X-Echo-Received': String(requestSize) },
    },
  );
}
