// The operations that answer a turn: with a real service, whose turns come to the real trigger.
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { INode } from 'n8n-workflow';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { startExecutionHost } from '../../helpers/restingExecution.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { textsFor } from '../helpers/actions.ts';
import { AGENT_TRIGGER, failureOf, runAction } from '../helpers/n8n.ts';
import { runFromTrigger } from '../helpers/runFromTrigger.ts';
import { triggerStage } from '../helpers/triggerStage.ts';
import type { Json, Side } from '../helpers/webhookHost.ts';

const stage = triggerStage({ AGENT_QUIET_MS: '0' });
let side: Side;
beforeAll(async () => {
  const parameters = { responseMode: 'onReceived', timeout: 30 };
  side = stage.host.addTrigger({ type: AGENT_TRIGGER, parameters }).production;
  await side.activate();
});
afterEach(() => void (side.executions.length = 0));

/** A running turn of a customer who has written. */
async function openTurn(text = 'Hello') {
  const customer = await chatCustomer(stage.service.url);
  const { conversation_id: conversationId } = await customer.write(text);
  const turn = await waitFor('the turn', () =>
    side.executions.find((each) => each.conversation_id === conversationId),
  );
  const read = async (path: string) => (await stage.service.api.get(path)).body as Json;
  return {
    customer,
    turn,
    conversationId,
    said: () => textsFor(customer),
    conversation: () => read(`/api/conversations/${conversationId}`),
    record: () => read(`/api/agent-turns/${turn.turn_id as string}`),
  };
}
const run = (
  operation: string,
  turn: Json | Json[],
  parameters: INode['parameters'] = {},
  node: Partial<INode> = {},
) =>
  runAction({
    credential: stage.credential,
    resource: 'agentTurn',
    operation,
    parameters,
    input: [turn].flat(),
    node,
  });

describe('Agent Turn', () => {
  it('Reply answers the customer as the agent and ends the turn', async () => {
    const { turn, said, conversation, record } = await openTurn();
    const { items } = await run('reply', turn, { text: '=You wrote: {{ $json.chatInput }}' });
    expect(items).toMatchObject([
      {
        turn: { turn_id: turn.turn_id, status: 'answered', outcome: 'reply', messages_sent: 1 },
        messages: [{ text: 'You wrote: Hello', sender: { type: 'agent' } }],
        conversation: { status: 'ai_active' },
      },
    ]);
    expect(await said()).toEqual(['You wrote: Hello']);
    expect(await conversation()).toMatchObject({ status: 'ai_active' });
    expect(await record()).toMatchObject({ status: 'answered' });
  });

  it('Reply of several items sends each in order, and the last one ends the turn', async () => {
    const { turn, said, record } = await openTurn();
    const items = ['One', 'Two', 'Three'].map((text) => ({ turn_id: turn.turn_id, text }));
    expect((await run('reply', items, { text: '={{ $json.text }}' })).items).toMatchObject([
      { turn: { status: 'running' } },
      { turn: { status: 'running' } },
      { turn: { status: 'answered', messages_sent: 3 } },
    ]);
    expect(await said()).toEqual(['One', 'Two', 'Three']);
    expect(await record()).toMatchObject({ outcome: 'reply' });
  });

  it('Reply with "More Follows" leaves the turn open, and End ends it', async () => {
    const { turn, said, record } = await openTurn();
    await run('reply', turn, { text: 'One moment', options: { moreFollows: true } });
    expect(await record()).toMatchObject({ status: 'running', messages_sent: 1 });
    await run('end', turn);
    expect(await record()).toMatchObject({ status: 'answered', outcome: 'reply' });
    expect(await said()).toEqual(['One moment']);
  });

  it('End says nothing, and the agent stays in control', async () => {
    const { turn, said, conversation } = await openTurn();
    expect((await run('end', turn)).items).toMatchObject([
      { turn: { status: 'answered', outcome: 'nothing' }, messages: [] },
    ]);
    expect(await said()).toEqual([]);
    expect(await conversation()).toMatchObject({ status: 'ai_active' });
  });

  it('Hand Over asks for a person with reason and note, after a last text', async () => {
    const { turn, said, conversation } = await openTurn();
    await run('handOver', turn, {
      reason: 'customer_request',
      note: 'Wants a refund',
      text: 'A colleague will answer you.',
    });
    expect(await said()).toEqual(['A colleague will answer you.']);
    expect(await conversation()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'customer_request', note: 'Wants a refund' },
    });
  });

  it('Hand Over without fields has the service tell the customer', async () => {
    const { turn, said, conversation } = await openTurn();
    await run('handOver', turn);
    expect(await said()).toEqual([expect.stringMatching(/./)]);
    expect(await conversation()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'missing_knowledge' },
    });
  });

  it('Close closes the conversation with verdict and summary, after a last text', async () => {
    const { turn, said, conversation } = await openTurn();
    await run('close', turn, {
      verdict: 'no_response',
      summary: 'Asked for nothing.',
      text: 'Goodbye!',
    });
    expect(await said()).toEqual(['Goodbye!']);
    expect(await conversation()).toMatchObject({
      status: 'closed',
      outcome: { verdict: 'no_response', summary: 'Asked for nothing.' },
    });
  });

  it('Close takes a number as the summary', async () => {
    const { turn, conversation } = await openTurn();
    await run('close', turn, { verdict: 'goal_reached', summary: '={{ 49 }}' });
    expect(await conversation()).toMatchObject({ status: 'closed', outcome: { summary: '49' } });
  });

  it.each([
    ['handOver', { note: '={{ $json.n }}', text: 'A colleague will answer.' }, 'hand_over'],
    ['close', { summary: '={{ $json.n }}', verdict: 'no_response', text: 'Goodbye!' }, 'close'],
    ['end', {}, 'nothing'],
  ] as const)(
    '%s of several items ends each turn once, and all items get the answer',
    async (operation, parameters, outcome) => {
      const [one, two] = [await openTurn(), await openTurn()];
      const turns = [one.turn, one.turn, two.turn, one.turn];
      const items = turns.map(({ turn_id }, n) => ({ turn_id, n: `Item ${n}` }));
      const ended = await run(operation, items, parameters);
      expect(ended.items).toMatchObject(
        turns.map(({ turn_id }) => ({ turn: { turn_id, status: 'answered', outcome } })),
      );
      expect(ended.paired).toEqual(items.map((_item, item) => ({ item })));
      const said = 'text' in parameters ? [parameters.text] : [];
      expect([await one.said(), await two.said()]).toEqual([said, said]);
    },
  );

  it('Get and Get Many read turns', async () => {
    const { turn, conversationId } = await openTurn();
    expect((await run('get', turn)).items).toMatchObject([
      { turn_id: turn.turn_id, status: 'running', outcome: null },
    ]);
    await run('end', turn);
    const parameters = { filters: { conversation_id: conversationId, status: 'answered' } };
    expect((await run('getAll', {}, parameters)).items).toMatchObject([
      { turn_id: turn.turn_id, outcome: 'nothing' },
    ]);
  });
});

describe('A superseded turn', () => {
  type OpenTurn = Awaited<ReturnType<typeof openTurn>>;
  const takeOver = ({ conversationId }: OpenTurn) =>
    stage.service.api.post(`/api/conversations/${conversationId}/takeover`);
  const writeAgain = async ({ customer, conversationId }: OpenTurn) => {
    await customer.write('And another thing');
    await waitFor('the next turn', () => {
      const turns = side.executions.filter((each) => each.conversation_id === conversationId);
      return turns.length > 1;
    });
  };

  it.each<[string, (opened: OpenTurn) => Promise<unknown>]>([
    ['a person took over', takeOver],
    ['the customer wrote again', writeAgain],
  ])('sends nothing when %s', async (_what, supersede) => {
    const opened = await openTurn();
    await supersede(opened);
    for (const [operation, parameters] of [
      ['reply', { text: 'Too late' }],
      ['handOver', { text: 'Too late' }],
      ['close', { summary: 'Too late', text: 'Too late' }],
      ['end', {}],
    ] as const)
      expect(await failureOf(run(operation, opened.turn, parameters))).toMatchObject({
        httpCode: '409',
        context: { code: 'turn_superseded' },
      });
    expect(await opened.said()).toEqual([]);
    expect(await opened.conversation()).not.toMatchObject({ status: 'closed' });
  });

  it('goes to the error output with the reason and the code, and with its item', async () => {
    const opened = await openTurn();
    await takeOver(opened);
    const { turn, said } = opened;
    const node = { onError: 'continueErrorOutput' } as const;
    const { items, errors } = await run('reply', turn, { text: 'Too late' }, node);
    expect(items).toEqual([]);
    expect(errors).toMatchObject([
      {
        turn_id: turn.turn_id,
        error: expect.stringMatching(/took over/),
        details: { code: 'turn_superseded', fix: expect.stringContaining('error output') },
      },
    ]);
    expect(await said()).toEqual([]);
  });
});

describe('The turn that an operation works on', () => {
  it('is that of the trigger, wherever the node stands', async () => {
    const { turn, said } = await openTurn();
    await runFromTrigger({
      credential: stage.credential,
      trigger: AGENT_TRIGGER,
      output: turn,
      // The output of n8n's AI Agent.
      between: { output: 'From the AI Agent' },
      resource: 'agentTurn',
      operation: 'reply',
      parameters: { text: '={{ $json.output }}' },
    });
    expect(await said()).toEqual(['From the AI Agent']);
  });

  it('is sent to once, also when the node is run again in the same execution', async () => {
    const { turn, said } = await openTurn();
    const again = () => run('reply', turn, { text: 'Once', options: { moreFollows: true } });
    await again();
    await again();
    expect(await said()).toEqual(['Once']);
    await run('end', turn);
  });

  it('takes the reply that "Retry On Fail" repeats, once its wait has ended', async () => {
    const executions = await startExecutionHost(() => stage.service.api);
    try {
      const { turn, said } = await openTurn();
      const execution = executions.execution();
      const { body: wait } = await stage.service.api.post('/api/waits', {
        kind: 'decision',
        turn_id: turn.turn_id,
        message: 'Refund?',
        resume_url: execution.url,
      });
      const retries = { retryOnFail: true, maxTries: 5, waitBetweenTries: 1000 };
      const running = run('reply', turn, { text: 'Refunded.' }, retries);
      await waitFor('the first refusal', () =>
        stage.wire.seen.some(({ status }) => status === 409),
      );
      await stage.service.api.post(`/api/waits/${wait.id}/decide`, { approved: true });
      await waitFor('the execution to go on', () => execution.wentOnWith.length > 0);
      expect((await running).items).toMatchObject([{ turn: { status: 'answered' } }]);
      expect(await said()).toEqual(['Refunded.']);
    } finally {
      await executions.close();
    }
  });

  it('is missing after another trigger: the error says what to do', async () => {
    expect(await failureOf(run('reply', {}, { text: 'Hello' }))).toMatchObject({
      message: 'The ID of the agent turn is empty',
      description: expect.stringContaining('Conversation Service Agent Trigger'),
    });
  });

  it('does not end by a reply without text: the error says what to do', async () => {
    const { turn } = await openTurn();
    expect(await failureOf(run('reply', turn, { text: ' ' }))).toMatchObject({
      message: 'The text of the reply is empty',
      description: expect.stringContaining('Agent Turn → End'),
    });
    await run('end', turn);
  });
});
