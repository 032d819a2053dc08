// Ramps of virtual users, and the knee that the Mule and the maximum-QPS experiments look for.

import { knee } from './knee.js';
import { number, numbers } from './settings.js';

/** The users of the Mule report; on its largest machines the ramp went on to 20,000. */
export const MULE_STEPS = '10,25,50,100,200,300,500,1000,2000,3000,5000';

/** The steps of VUS, or else of `steps`, each a phase with what `varied` says. */
export function rampOf(steps, varied) {
  const limits = { p95: number('P95', 2000) + (varied.delay || 0), errors: number('ERRORS', 0) };
  return numbers('VUS', steps, '1,2,4').map((vus, step) => ({
    name: `vus-${vus}`,
    vus,
    ...varied,
    // Past the knee latency grows without end, and requests may be refused. That the gateway is neither slow nor
    // broken shows in the first step.
    ...(step === 0 ? limits : { p95: Infinity, errors: 1 }),
  }));
}

/** Options of a plan whose phases are a ramp. */
export const RAMP = {
  defaults: { DURATION: '30s' },
  conclude: (phases) => ({ knee: knee(phases) }),
};
