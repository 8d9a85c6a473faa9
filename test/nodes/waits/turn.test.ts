// Send and Wait for Reply in a workflow that is the agent: the turn comes to the real trigger.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import { AGENT_TRIGGER } from '../helpers/n8n.ts';
import { runFromTrigger } from '../helpers/runFromTrigger.ts';
import { waitScene } from '../helpers/waitScene.ts';
import {
  startWebhookHost,
  type Json,
  type Side,
  type WebhookHost,
} from '../helpers/webhookHost.ts';

const scene = waitScene();
const credential = () => ({ baseUrl: scene.wire.url, apiKey: scene.service.apiKey });
const responseMode = 'onReceived';
let host: WebhookHost;
let side: Side;
beforeAll(async () => {
  host = await startWebhookHost(credential);
  side = host.addTrigger({ type: AGENT_TRIGGER, parameters: { responseMode } }).production;
  await side.activate();
});
afterAll(async () => {
  await side?.deactivate();
  await host?.close();
});

/** A running turn of a customer who has written. */
async function openTurn() {
  const { id, customer } = await scene.open('Where is my order?');
  scene.clock.advance(10_000);
  const turn = await waitFor('the turn', () =>
    side.executions.find((each) => each.conversation_id === id),
  );
  const record = async () =>
    (await scene.service.api.get(`/api/agent-turns/${turn.turn_id as string}`)).body as Json;
  return { id, customer, turn, record };
}

/** The output of n8n's AI Agent. */
const FROM_AI_AGENT = { output: 'I need the number of the order.' };
const text = '={{ $json.output }} What is it?';
const ASKED = 'I need the number of the order. What is it?';

describe('Send and Wait for Reply behind an AI Agent, whose item has no conversation', () => {
  it('asks the customer of the turn that started the workflow', async () => {
    const { id, customer, turn, record } = await openTurn();
    await runFromTrigger({
      credential: credential(),
      trigger: AGENT_TRIGGER,
      triggerParameters: { responseMode },
      output: turn,
      between: FROM_AI_AGENT,
      resource: 'conversation',
      operation: 'sendAndWait',
      parameters: { text },
    });
    expect(await scene.newest()).toMatchObject({
      kind: 'reply',
      status: 'open',
      conversation_id: id,
      turn_id: turn.turn_id,
    });
    expect(await record()).toMatchObject({ status: 'suspended' });
    expect((await customer.read()).at(-1)).toMatchObject({ from: 'agent', text: ASKED });
  });

  it('asks the customer of the turn in "Turn ID", and goes on with their reply', async () => {
    const { id, customer, turn, record } = await openTurn();
    const waiting = await scene.host.wait({
      resource: 'conversation',
      parameters: { text, turnId: turn.turn_id as string },
      input: [FROM_AI_AGENT],
    });
    await customer.write('A-1042');
    scene.clock.advance(10_000);
    expect(await waiting.output()).toMatchObject({
      answered: true,
      text: 'A-1042',
      conversation_id: id,
      turn_id: turn.turn_id,
    });
    expect(await record()).toMatchObject({ status: 'running' });
  });
});
