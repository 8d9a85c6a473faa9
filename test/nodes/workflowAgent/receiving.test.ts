// What the agent trigger does with a turn. How a signature is checked is shown with the trigger of
// events, and how a repeat is answered with the trigger of tools.
import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { AGENT_TRIGGER } from '../helpers/n8n.ts';
import { signedCallStage, type SendOptions } from '../helpers/signedCallStage.ts';
import { answerWith, type Json, type TriggerOptions } from '../helpers/webhookHost.ts';

const turn = (changes: Json = {}): Json => ({
  turn_id: `turn_${randomUUID()}`,
  conversation_id: 'conv_1',
  control_epoch: 3,
  conversation: { id: 'conv_1', contact_name: 'Ana' },
  messages: [{ text: 'Grüße 🎉' }],
  history: [],
  transcript: 'Customer: Grüße 🎉',
  agent: { name: 'Ana' },
  chatInput: 'Grüße 🎉',
  sessionId: 'conv_1',
  ...changes,
});
const { addTrigger, register, send } = signedCallStage(turn);

function trigger(parameters: TriggerOptions['parameters'] = {}) {
  const made = addTrigger({ type: AGENT_TRIGGER, parameters });
  register(made.production);
  register(made.test, 'whsec_test');
  for (const side of [made.production, made.test]) answerWith(side, 200, [{ output: 'Hello' }]);
  return made;
}
const published = (parameters?: TriggerOptions['parameters']) => trigger(parameters).production;

describe('A turn', () => {
  it('starts the workflow with all its fields as they came, and the last node answers it', async () => {
    const side = published();
    const call = turn();
    expect(await send(side, { call })).toMatchObject({ status: 200, text: '[{"output":"Hello"}]' });
    expect(side.executions).toEqual([call]);
  });

  it('is accepted at once with 202 when operations answer it', async () => {
    const side = published({ responseMode: 'onReceived' });
    const call = turn();
    const accepted = {
      status: 202,
      type: 'application/json; charset=utf-8',
      text: '{"status":"accepted"}',
    };
    expect(await send(side, { call })).toMatchObject(accepted);
    expect(await send(side, { call })).toMatchObject(accepted);
    expect(side.executions).toEqual([call]);
  });

  it('of "Try it" starts the listening editor only, which has a secret of its own', async () => {
    const { production, test } = trigger();
    const call = turn({ is_test: true });
    expect((await send(test, { call })).status).toBe(401);
    expect((await send(test, { call, secret: 'whsec_test' })).status).toBe(200);
    expect(test.executions).toEqual([call]);
    expect(production.executions).toEqual([]);
  });

  it('gets 503 while the secret is not stored yet, so that it comes again', async () => {
    const side = published();
    const { staticData } = side;
    side.staticData = {};
    const call = turn();
    expect(await send(side, { call })).toMatchObject({ status: 503, retryAfter: '2' });
    side.staticData = staticData;
    expect((await send(side, { call })).status).toBe(200);
    expect(side.executions).toHaveLength(1);
  });

  it.each<[string, () => SendOptions]>([
    ['a forged signature', () => ({ secret: 'whsec_forged' })],
    ['no turn_id', () => ({ call: turn({ turn_id: undefined }) })],
    ['an empty turn_id', () => ({ call: turn({ turn_id: '' }) })],
    ['a turn_id that is no text', () => ({ call: turn({ turn_id: 7 }) })],
    ['a signed list', () => ({ call: [turn()] })],
  ])('starts nothing and gets 401: %s', async (_what, options) => {
    const side = published();
    const answer = await send(side, options());
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.text)).toEqual({ message: expect.stringMatching(/./) });
    expect(side.executions).toEqual([]);
  });
});
