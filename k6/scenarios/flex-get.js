// GET with replies of 1, 10 and 100 KB at 200 connections: the Flex Gateway benchmarking guide.

import { filler } from '../lib/filler.js';
import { credentials, exchange } from '../lib/gateway.js';
import { plan } from '../lib/plan.js';
import { policies, probe } from '../lib/policies.js';
import { number, readableSize, sizes } from '../lib/settings.js';

const vus = number('VUS', 200, 2);
const run = plan(
  'flex-get',
  sizes('SIZE', '1K,10K,100K').map((size) => ({ name: `reply-${readableSize(size)}`, vus, size })),
);
const as = credentials('headers');
const expected = policies('none');

export const options = run.options;
export const handleSummary = run.handleSummary;

export function setup() {
  probe(expected, as);
}

export default function () {
  const { size } = run.enter();
  exchange(
    { path: `/?size=${size}`, as },
    { body: filler(size), headers: { 'Content-Type': 'text/plain' } },
  );
}
