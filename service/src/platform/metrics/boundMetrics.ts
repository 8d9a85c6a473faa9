import { Counter, type Registry } from 'prom-client';
import { BOUNDS, type BoundName } from '../limits/bounds.ts';

/**
 * Counts how often each bound was reached. Each bound's counter exists from the start, at 0, so
 * that alerts can refer to it.
 */
export function countBounds(registry: Registry): (bound: BoundName) => void {
  const reached = new Counter({
    name: 'conversation_service_bound_reached_total',
    help: 'How often each bound against abuse was reached; docs/operations.md lists them.',
    labelNames: ['bound'],
    registers: [registry],
  });
  for (const bound of Object.keys(BOUNDS)) reached.inc({ bound }, 0);
  return (bound) => reached.inc({ bound });
}
