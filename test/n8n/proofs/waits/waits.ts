import type { Stage } from '../../stage.ts';
import { provesAsking } from './asking.ts';
import { provesHumanReview } from './humanReview.ts';
import { provesResuming } from './resuming.ts';
import { provesToolThatAsks } from './toolThatAsks.ts';

/** Workflows that wait for people. */
export function provesWaits(stage: () => Stage): void {
  provesAsking(stage);
  provesResuming(stage);
  provesToolThatAsks(stage);
  provesHumanReview(stage);
}
