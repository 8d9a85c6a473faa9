import type { Deps } from '../../../platform/deps.ts';
import { AppError } from '../../../platform/http/errorCatalogue.ts';
import type { Workspace } from '../../../team/index.ts';
import { findTestTarget } from '../agentWebhook.ts';
import { enqueueTurn, newWebhookTurn, type WebhookTurn } from '../webhookTurn.ts';

/**
 * Begins a turn about a made-up first message. It goes to the n8n editor that listens for a test
 * event, else to the published workflow. The answer is kept in the turn and sent to nobody.
 * @throws not_found (404) when no workflow is there to answer
 */
export const tryWorkflow = ({ store, clock }: Deps, workspace: Workspace, text: string) =>
  store.transaction(async (tx): Promise<WebhookTurn> => {
    const now = clock.now();
    if (!(await findTestTarget(tx, workspace.id, now)))
      throw new AppError(
        'not_found',
        'No workflow is there to answer. In n8n, publish the workflow, or choose Execute step on its trigger.',
      );
    const turn = newWebhookTurn(
      {
        workspaceId: workspace.id,
        conversationId: null,
        number: 1,
        controlEpoch: 0,
        firstMessage: 1,
        lastMessage: 1,
        isTest: true,
        tried: { text, answer: null },
      },
      now,
    );
    await tx.webhookTurns.put(turn);
    await enqueueTurn(tx, turn, now.getTime());
    return turn;
  });
