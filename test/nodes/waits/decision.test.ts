import { describe, expect, it } from '@jest/globals';
import { byId } from '../helpers/actions.ts';
import { waitScene } from '../helpers/waitScene.ts';

const scene = waitScene();

describe('Approval → Ask and Wait', () => {
  it('asks without a conversation, and goes on with who approved', async () => {
    const waiting = await scene.askTeam({
      detailFields: {
        values: [
          { label: 'Order', value: 'A-1042' },
          { label: '', value: 'left out' },
          { label: 'Amount', value: '19.90 EUR' },
        ],
      },
      options: { approveLabel: 'Refund', rejectLabel: 'Keep' },
    });
    expect(await scene.newest()).toMatchObject({
      kind: 'decision',
      message: 'Refund order A-1042?',
      details: { Order: 'A-1042', Amount: '19.90 EUR' },
      conversation_id: null,
    });
    // The output gives no negative time, although the service's clock was set back.
    scene.clock.advance(-60_000);
    await scene.decide(true, 'Go ahead');
    expect(await waiting.output()).toEqual({
      data: {
        approved: true,
        status: 'approved',
        timed_out: false,
        note: 'Go ahead',
        decided_by: expect.any(String),
        decided_at: expect.any(String),
        seconds_waited: 0,
      },
      conversation_id: null,
      turn_id: null,
      wait_id: (await scene.newest()).id,
    });
    scene.clock.advance(60_000);
  });

  it('gives a rejection and its note in the words that a model reads', async () => {
    const { id } = await scene.open();
    const waiting = await scene.askTeam({
      ...byId(id),
      specifyDetails: 'json',
      details: '{"order": {"number": "A-1042"}}',
    });
    expect(await scene.newest()).toMatchObject({
      conversation_id: id,
      details: { order: { number: 'A-1042' } },
    });
    await scene.decide(false, 'Fine, but ask me first');
    expect(await waiting.output()).toMatchObject({
      data: {
        approved: false,
        note: 'Fine, but ask me first',
        chatInput: 'Rejected: Fine, but ask me first',
      },
    });
  });

  it('is no approval when nobody decides, and when the conversation is closed', async () => {
    const waiting = await scene.askTeam({ timeLimit: 30, timeLimitUnit: 'minutes' });
    scene.clock.advance(31 * 60_000);
    expect(await waiting.output()).toMatchObject({
      data: { approved: false, timed_out: true, status: 'expired', chatInput: expect.any(String) },
    });
    const { id } = await scene.open();
    const closed = await scene.askTeam(byId(id));
    const closing = { verdict: 'unknown', summary: 'Closed' };
    await scene.service.api.post(`/api/conversations/${id}/close`, closing);
    expect(await closed.output()).toMatchObject({
      data: { approved: false, timed_out: false, status: 'closed', chatInput: expect.any(String) },
    });
  });

  it('shows the arguments of a human review in the details, not as [object Object]', async () => {
    await scene.askTeam({
      message: '=The agent wants to run this tool: Refund\n\nInput:\n{{ $json }}',
      specifyDetails: 'json',
      details: '={{ { order: "A-1042" } }}',
    });
    expect(await scene.newest()).toMatchObject({
      message: 'The agent wants to run this tool: Refund',
      details: { order: 'A-1042' },
    });
  });

  it('asks about a tool without arguments', async () => {
    await scene.askTeam({
      message: '=The agent wants to run this tool: Refund all\n\nInput:\n{{ $json }}',
      specifyDetails: 'json',
      details: '={{ {} }}',
    });
    expect(await scene.newest()).toMatchObject({
      message: 'The agent wants to run this tool: Refund all',
    });
  });
});
