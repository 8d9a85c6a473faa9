import { workGroup } from '../../platform/jobs/workGroup.ts';
import type { Tx } from '../../store/collections.ts';
import { AGENT_QUEUE } from '../agentSettings.ts';

/**
 * Lets the agent look at a conversation. If it is off by then, the customer waits for the team. A
 * conversation has at most one such job, which has its id: doing this again only moves the job.
 */
export const enqueueAgentTurn = (
  tx: Tx,
  { id, workspaceId }: { readonly id: string; readonly workspaceId: string },
  runAt: number,
): Promise<void> =>
  tx.jobs.enqueue({
    id,
    queue: AGENT_QUEUE,
    group: workGroup(workspaceId, id),
    runAt,
    rank: 0,
    data: {},
  });
