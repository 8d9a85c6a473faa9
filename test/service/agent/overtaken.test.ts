// The moment between choosing words and writing them down, too short for a test to hit from
// outside.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { updateAgentSettings } from '../../../service/src/agent/operations/settings.ts';
import { loadTurn } from '../../../service/src/agent/turn/loadTurn.ts';
import { putToolCalls } from '../../../service/src/agent/turn/putToolCalls.ts';
import { recordOutcome } from '../../../service/src/agent/turn/recordOutcome.ts';
import type { ServiceStore } from '../../../service/src/store/collections.ts';
import { createTool } from '../../../service/src/tools/operations/defineTool.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import { decideToolCall } from '../../../service/src/tools/operations/completeToolCall.ts';
import { receiveMessage } from '../../../service/src/conversations/operations/receiveMessage.ts';
import { startChatSession } from '../../../service/src/channels/web_chat/chatOperations.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { testDeps } from '../../helpers/testDeps.ts';

describe('words that were chosen while an approval waited', () => {
  let fresh: FreshStore;
  let store: ServiceStore;
  beforeEach(async () => {
    fresh = await openFreshStore();
    ({ store } = fresh);
  });
  afterEach(async () => {
    await fresh.remove();
  });

  it('do not count as telling how it ended', async () => {
    const agent = { quietMs: 0, approvalExpiresMs: 60_000 };
    const deps = testDeps({ store, agent });
    const workspace = await createWorkspace(deps, 'Test');
    await updateAgentSettings(deps, workspace, { enabled: true });
    const { tool } = await createTool(
      deps,
      workspace,
      {
        name: 'refund',
        description: 'Refunds.',
        kind: 'Webhook',
        endpoint: 'https://tools.example.com/refund',
        requestTemplate: null,
        parameters: { type: 'object' },
        timeoutSeconds: 10,
        askBeforeRunning: true,
      },
      {},
    );
    await store.transaction((tx) => tx.tools.put({ ...tool, status: 'live' }));
    const { contact } = await startChatSession(deps, workspace, {
      name: null,
      phone: null,
      email: null,
    });
    const { conversationId } = await receiveMessage(deps, workspace, contact.id, {
      text: 'please refund me',
      channelMessageId: '1',
    });
    const asked = (await loadTurn(deps, conversationId))!;
    await store.transaction((tx) =>
      putToolCalls(
        tx,
        deps,
        asked,
        asked.conversation,
        [{ tool: 'refund', arguments: {}, misfit: null }],
        new Date(),
      ),
    );

    const waiting = (await loadTurn(deps, conversationId))!;
    const [call] = waiting.untold;
    expect(call).toMatchObject({ status: 'pending_approval' });
    await decideToolCall(deps, workspace, call!.id, {
      approved: false,
      by: { type: 'api', name: 'test' },
      note: null,
    });
    expect(
      await recordOutcome(deps, waiting, {
        type: 'reply',
        text: '',
        notices: ['A colleague has to confirm this first.'],
        qualify: false,
        close: null,
      }),
    ).toBe(true);

    expect((await loadTurn(deps, conversationId))?.untold).toMatchObject([
      { id: call!.id, status: 'rejected' },
    ]);
    expect(await store.msUntilDue('agent_turns')).not.toBeNull();
  });
});
