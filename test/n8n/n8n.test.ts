// The main job and its hard cases against a real n8n, with our packed tarball installed in it.
// All proofs share one n8n and one service, because a start takes ten seconds; a few start a second
// n8n.
import { afterAll, beforeAll } from '@jest/globals';
import { openStage, type Stage } from './stage.ts';
import { provesActions } from './proofs/actions.ts';
import { provesAgent } from './proofs/agent/agent.ts';
import { provesCredentialTest } from './proofs/credentialTest.ts';
import { provesDuplicates } from './proofs/duplicates.ts';
import { provesExamples } from './proofs/examples/examples.ts';
import { provesForgery } from './proofs/forgery.ts';
import { provesMainJob } from './proofs/mainJob.ts';
import { provesRepublishing } from './proofs/publishing/republishing.ts';
import { provesRestarts } from './proofs/publishing/restarts.ts';
import { provesRotation } from './proofs/publishing/rotation.ts';
import { provesSecondN8n } from './proofs/publishing/secondN8n.ts';
import { provesSentBy } from './proofs/sentBy.ts';
import { provesSevenEvents } from './proofs/sevenEvents.ts';
import { provesTestListening } from './proofs/publishing/testListening.ts';
import { provesToolOwnership } from './proofs/publishing/toolOwnership.ts';
import { provesTools } from './proofs/tools.ts';
import { provesUnpublishing } from './proofs/publishing/unpublishing.ts';
import { provesWaits } from './proofs/waits/waits.ts';
import { withSecondN8n } from './proofs/publishing/withSecondN8n.ts';

let opened: Stage | undefined;
const stage = (): Stage => {
  if (!opened) throw new Error('The stage did not open. See the error of beforeAll.');
  return opened;
};

beforeAll(async () => {
  opened = await openStage();
}, 300_000);

afterAll(async () => {
  await opened?.close();
}, 60_000);

provesMainJob(stage);
provesExamples(stage);
// After the examples: one of them sends a reminder for each open payment link, and these make
// hundreds.
provesActions(stage);
provesForgery(stage);
provesDuplicates(stage);
provesTestListening(stage);
provesRepublishing(stage);
provesRotation(stage);
provesCredentialTest(stage);
provesTools(stage);
provesWaits(stage);
provesAgent(stage);
// From here on the service's clock is ahead, so a question with a time limit would rest longer.
provesRestarts(stage);
provesSevenEvents(stage);
provesSentBy(stage);
withSecondN8n(stage, (second) => {
  provesSecondN8n(stage, second);
  provesToolOwnership(stage, second);
});
provesUnpublishing(stage);
