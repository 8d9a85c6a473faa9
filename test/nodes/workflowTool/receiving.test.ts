// What the agent call trigger does with a call. How a signature is checked is shown with the trigger
// of events.
import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { TOOL_TRIGGER } from '../helpers/n8n.ts';
import { heldBack, now } from '../helpers/signedCalls.ts';
import { signedCallStage, type SendOptions } from '../helpers/signedCallStage.ts';
import { answerWith, type Json, type Side, type TriggerOptions } from '../helpers/webhookHost.ts';

const envelope = (changes: Json = {}): Json => ({
  tool_call_id: `call_${randomUUID()}`,
  tool: 'find_order',
  arguments: { order_number: 'A-1042' },
  conversation_id: 'conv_1',
  ...changes,
});
const { addTrigger, register, send } = signedCallStage(envelope);
type Sent = Awaited<ReturnType<typeof send>>;

const PARAMETERS = { toolName: 'find_order', toolDescription: 'Finds an order.' };
/** A trigger whose secret n8n has stored, answering as n8n does when the last node finishes. */
function published(parameters: TriggerOptions['parameters'] = {}): Side {
  const { production: side } = addTrigger({
    type: TOOL_TRIGGER,
    parameters: { ...PARAMETERS, ...parameters },
  });
  register(side);
  side.startExecution = (json, res) => {
    side.executions.push(json);
    res.status(200).json({ found: side.executions.length });
  };
  return side;
}

describe('A tool call', () => {
  it('starts the workflow with what the agent gave, also under a name that n8n’s expressions can read, and is answered with its result', async () => {
    const side = published();
    const call = envelope({
      arguments: { order_number: 'Grüße 🎉', count: 1.5, none: null, list: [] },
    });
    expect(await send(side, { call })).toMatchObject({
      status: 200,
      type: 'application/json; charset=utf-8',
      text: '{"found":1}',
    });
    expect(side.executions).toEqual([{ ...call, args: call.arguments }]);
  });

  it('is marked when it is a test', async () => {
    const side = published();
    const call = envelope({ conversation_id: 'conv_test' });
    await send(side, { call });
    expect(side.executions).toEqual([{ ...call, args: call.arguments, is_test: true }]);
  });

  it('is accepted at once when the trigger says so, with JSON', async () => {
    const side = published({ responseMode: 'onReceived' });
    const call = envelope();
    expect(await send(side, { call })).toMatchObject({
      status: 200,
      type: 'application/json; charset=utf-8',
      text: '{"status":"accepted"}',
    });
    expect(side.executions).toEqual([{ ...call, args: call.arguments }]);
  });

  it('comes under its test name while an editor listens, and the workflow sees the tool’s own', async () => {
    const { test, production } = addTrigger({ type: TOOL_TRIGGER, parameters: PARAMETERS });
    const secret = 'whsec_test';
    register(test, secret);
    register(production);
    const testCall = () => envelope({ tool: 'find_order_test' });
    expect((await send(test, { call: testCall(), secret })).status).toBe(200);
    expect((await send(test, { secret })).status).toBe(401);
    expect((await send(production, { call: testCall() })).status).toBe(401);
    expect(test.executions).toEqual([expect.objectContaining({ tool: 'find_order' })]);
    expect(production.executions).toEqual([]);
  });
});

describe('Verification', () => {
  it.each<[string, () => SendOptions]>([
    ['a forged signature', () => ({ secret: 'whsec_forged' })],
    ['a call of another tool', () => ({ call: envelope({ tool: 'find_order_2' }) })],
    ['no tool', () => ({ call: envelope({ tool: undefined }) })],
    ['no tool_call_id', () => ({ call: envelope({ tool_call_id: undefined }) })],
    ['an empty tool_call_id', () => ({ call: envelope({ tool_call_id: '' }) })],
    ['a tool_call_id that is no text', () => ({ call: envelope({ tool_call_id: 7 }) })],
    ['no arguments', () => ({ call: envelope({ arguments: undefined }) })],
    ['arguments that are null', () => ({ call: envelope({ arguments: null }) })],
    ['arguments that are a list', () => ({ call: envelope({ arguments: [] }) })],
    ['arguments that are a text', () => ({ call: envelope({ arguments: '{}' }) })],
    ['a signed list', () => ({ body: '[]' })],
    ['a signed text', () => ({ body: '"text"' })],
    ['a signed null', () => ({ body: 'null' })],
  ])('answers 401 and starts nothing: %s', async (_what, options) => {
    const side = published();
    const answer = await send(side, options());
    expect(answer.status).toBe(401);
    expect(JSON.parse(answer.text)).toEqual({ message: expect.stringMatching(/./) });
    expect(side.executions).toEqual([]);
  });

  it('keeps to the tolerance that is set', async () => {
    const side = published({ options: { tolerance: 30 } });
    expect((await send(side, { t: now() - 40 })).status).toBe(401);
    expect((await send(side, { t: now() + 40 })).status).toBe(401);
    expect((await send(side, { t: now() - 20 })).status).toBe(200);
  });

  it('answers 503 while the secret is not stored yet, then takes the same call', async () => {
    const side = published();
    const { staticData } = side;
    side.staticData = {};
    const call = envelope();
    expect(await send(side, { call })).toMatchObject({ status: 503, retryAfter: '2' });
    side.staticData = staticData;
    expect((await send(side, { call })).status).toBe(200);
    expect(side.executions).toHaveLength(1);
  });

  it('takes a call that was refused before: a refusal is not remembered', async () => {
    const side = published();
    const call = envelope();
    expect((await send(side, { call, secret: 'whsec_forged' })).status).toBe(401);
    expect((await send(side, { call })).status).toBe(200);
    expect(side.executions).toHaveLength(1);
  });
});

describe('A repeat of a call', () => {
  const same = (a: Sent, b: Sent) => expect(b).toEqual(a);
  /** A call whose workflow runs until `finish`. */
  async function running(signal?: AbortSignal) {
    const side = published();
    const call = envelope();
    const held = heldBack(side);
    const first = send(side, { call, signal });
    await held.started;
    return { side, call, first, ...held };
  }
  /** A call that still runs, and whose caller has hung up. */
  async function abandoned() {
    const abort = new AbortController();
    const { first, ...rest } = await running(abort.signal);
    abort.abort();
    await expect(first).rejects.toThrow();
    await rest.hungUp;
    return rest;
  }

  it.each([
    ['a result', 200, { order: { status: 'shipped' } }],
    ['a refusal of the workflow', 422, { message: 'There is no such order' }],
    ['a workflow that failed', 500, { message: 'Error in workflow' }],
  ])('after its end gets the same answer and runs nothing: %s', async (_what, status, body) => {
    const side = published();
    const call = envelope();
    answerWith(side, status, body);
    const first = await send(side, { call });
    expect(first).toMatchObject({ status, text: JSON.stringify(body) });
    same(first, await send(side, { call, t: now() - 1 }));
    expect(side.executions).toHaveLength(1);
  });

  it('while it runs waits for the same answer', async () => {
    const { side, call, first, called, finish } = await running();
    const repeats = [send(side, { call }), send(side, { call })];
    await called(3);
    await finish(200, { order: 'A-1042' });
    for (const each of await Promise.all(repeats)) same(await first, each);
    expect(side.executions).toHaveLength(1);
  });

  it('after the first caller hung up gets the answer, while the workflow still runs', async () => {
    const { side, call, called, finish } = await abandoned();
    const repeat = send(side, { call });
    await called(2);
    await finish(200, { order: 'A-1042' });
    expect(await repeat).toMatchObject({
      status: 200,
      type: 'application/json; charset=utf-8',
      text: '{"order":"A-1042"}',
    });
    expect(side.executions).toHaveLength(1);
  });

  it('after the first caller hung up gets the answer, when the workflow has ended since', async () => {
    const { side, call, finish } = await abandoned();
    await finish(500, { message: 'Error in workflow' });
    expect(await send(side, { call })).toMatchObject({
      status: 500,
      text: '{"message":"Error in workflow"}',
    });
    expect(side.executions).toHaveLength(1);
  });

  it('that hangs up too leaves the next one to wait', async () => {
    const { side, call, first, called, finish } = await running();
    const abort = new AbortController();
    const impatient = send(side, { call, signal: abort.signal });
    await called(2);
    abort.abort();
    await expect(impatient).rejects.toThrow();
    const last = send(side, { call });
    await called(3);
    await finish(200, {});
    same(await first, await last);
    expect(side.executions).toHaveLength(1);
  });

  it('gets what an operation of the workflow sent, whatever its status and form', async () => {
    const side = published({ responseMode: 'responseNode' });
    const call = envelope();
    side.startExecution = (json, res) => {
      side.executions.push(json);
      res.status(422).set({ 'content-type': 'application/json; charset=utf-8', 'x-other': '1' });
      res.write('"no ');
      res.end('such order"');
    };
    const first = await send(side, { call });
    expect(first).toMatchObject({ status: 422, text: '"no such order"' });
    same(first, await send(side, { call }));
    expect(side.executions).toHaveLength(1);
  });

  it('gets the empty answer of a workflow that ended without one', async () => {
    const side = published({ responseMode: 'responseNode' });
    const call = envelope();
    answerWith(side, 200, undefined);
    const first = await send(side, { call });
    expect(first).toMatchObject({ status: 200, text: '' });
    same(first, await send(side, { call }));
    expect(side.executions).toHaveLength(1);
  });

  it('of a call that was accepted at once starts nothing', async () => {
    const side = published({ responseMode: 'onReceived' });
    const call = envelope();
    same(await send(side, { call }), await send(side, { call }));
    expect(side.executions).toHaveLength(1);
  });

  it('is told from another call with the same arguments', async () => {
    const side = published();
    const [one, two] = [
      await send(side, { call: envelope() }),
      await send(side, { call: envelope() }),
    ];
    expect([one.text, two.text]).toEqual(['{"found":1}', '{"found":2}']);
  });

  it('is told from the same id at another trigger', async () => {
    const call = envelope();
    const [one, two] = [published(), published()];
    await send(one, { call });
    await send(two, { call });
    expect([one.executions.length, two.executions.length]).toEqual([1, 1]);
  });

  it('with a forged signature is refused as a first call is', async () => {
    const side = published();
    const call = envelope();
    await send(side, { call });
    expect((await send(side, { call, secret: 'whsec_forged' })).status).toBe(401);
  });

  it('among ten calls at once under one id starts no second workflow', async () => {
    const side = published();
    const call = envelope();
    const { called, finish } = heldBack(side);
    const all = Array.from({ length: 10 }, () => send(side, { call }));
    await called(10);
    await finish(200, { once: true });
    expect(new Set((await Promise.all(all)).map(({ text }) => text))).toEqual(
      new Set(['{"once":true}']),
    );
    expect(side.executions).toHaveLength(1);
  });
});
