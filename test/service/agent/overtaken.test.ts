// The moment between choosing words and writing them down, too short for a test to hit from
// outside.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadTurn } from '../../../service/src/agent/turn/loadTurn.ts';
import { recordOutcome } from '../../../service/src/agent/turn/recordOutcome.ts';
import type { ServiceStore } from '../../../service/src/store/collections.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import { decideToolCall } from '../../../service/src/tools/operations/completeToolCall.ts';
import { askForRefund } from '../tools/askForRefund.ts';
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
    const conversationId = await askForRefund(deps, workspace, {
      kind: 'Webhook',
      endpoint: 'https://tools.example.com/refund',
      requestTemplate: null,
      askBeforeRunning: true,
    });

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
