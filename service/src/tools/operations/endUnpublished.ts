import type { Deps } from '../../platform/deps.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';
import type { Job } from '../../store/store.ts';
import { TOOL_CALL_QUEUE } from '../calls/toolCall.ts';
import { isInUse, UNPUBLISHED_PATIENCE_MS, type Tool } from '../tool.ts';
import { cancelApprovals } from './completeToolCall.ts';

/** The job for `endUnpublished`. Each time that a tool is unpublished, there is a new one. */
export const endOfUnpublished = ({ id, workspaceId }: Tool, unpublishedAt: string): Job => ({
  id: `${id}:${unpublishedAt}`,
  queue: TOOL_CALL_QUEUE,
  group: workGroup(workspaceId, id),
  runAt: Date.parse(unpublishedAt) + UNPUBLISHED_PATIENCE_MS,
  rank: 0,
  data: { toolId: id, unpublishedAt },
});

/**
 * Cancels the calls that wait for approval, unless the tool is in use again, or was unpublished
 * again since.
 * @see docs/decisions/0039-what-ends-an-approval.md
 */
export const endUnpublished = (deps: Deps, { id, data }: Job): Promise<void> =>
  deps.store.transaction(async (tx) => {
    const tool = await tx.tools.get(String(data.toolId));
    const unpublishedAt = tool?.publication?.unpublishedAt ?? data.unpublishedAt;
    if (tool && !isInUse(tool) && unpublishedAt === data.unpublishedAt)
      await cancelApprovals(tx, deps, { toolId: tool.id }, deps.clock.now());
    await tx.jobs.complete(id);
  });
