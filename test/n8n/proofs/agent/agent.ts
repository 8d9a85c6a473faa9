import type { Stage } from '../../stage.ts';
import { provesCrashes } from './crashes.ts';
import { provesGuard } from './guard.ts';
import { provesOutages } from './outages.ts';
import { provesAgentPublishing } from './publishing.ts';
import { provesRaces } from './races.ts';

/** What a workflow that is the agent promises, in a real n8n. */
export function provesAgent(stage: () => Stage): void {
  provesAgentPublishing(stage);
  provesGuard(stage);
  provesRaces(stage);
  provesOutages(stage);
  provesCrashes(stage);
}
