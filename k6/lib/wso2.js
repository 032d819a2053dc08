// What the WSO2 experiments have in common.

import { EPOCHS, MESSAGES, ROUTING } from './orders.js';
import { choices, numbers } from './settings.js';

/** Runs of 60 s after 30 s of warm-up. Large messages at 200 users take seconds. */
export const DEFAULTS = { WARMUP: '30s', DURATION: '60s', P95: '10000' };

/** The headers of each request. */
export const HEADERS = { 'Content-Type': 'text/xml', SOAPAction: 'urn:buyStocks', routing: ROUTING };

/** A phase for each combination of epoch, users, size and delay. */
export function matrix() {
  const sizes = choices('SIZE', Object.keys(MESSAGES), '500,1024,10240,102400', '500,102400');
  const users = numbers('VUS', '100,200', '2');
  const delays = numbers('DELAY', '0,30,100,500,1000', '0,30');
  return choices('EPOCH', EPOCHS, 'compact,indented').flatMap((epoch) =>
    users.flatMap((vus) =>
      sizes.flatMap((size) =>
        delays.map((delay) => ({
          name: `${epoch}-${size}B-${vus}users-${delay}ms`,
          vus,
          epoch,
          size: Number(size),
          message_bytes: MESSAGES[size][epoch],
          delay,
        })),
      ),
    ),
  );
}
