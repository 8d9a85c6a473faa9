import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TOOL_STATUSES } from '../../service/src/tools/tool.ts';
import { TOOL_CALL_STATUSES } from '../../service/src/tools/calls/toolCall.ts';
import { chatCustomer } from '../helpers/apiClient.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import { waitFor } from '../helpers/waitFor.ts';
import {
  actionNode,
  additionalData,
  core,
  failureOf,
  ourNode,
  ACTION,
  runAction,
  workflow,
  workflowWith,
  type ActionOptions,
} from './helpers/n8n.ts';
import { freeAddress, startHttpServer, startWire, type Wire } from './helpers/strangers.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { INSECURE_TARGETS: 'true' } });
});
afterAll(() => service.stop());

type Rest = Partial<Omit<ActionOptions, 'resource' | 'operation'>>;
const credential = () => ({ baseUrl: service.url, apiKey: service.apiKey });
const conversation = (operation: string, rest: Rest = {}) =>
  runAction({ credential: credential(), resource: 'conversation', operation, ...rest });
const subscription = (operation: string, rest: Rest = {}) =>
  runAction({ credential: credential(), resource: 'subscription', operation, ...rest });

let customers = 0;
/** A conversation that a customer has opened. */
async function open(text = 'Hello', claims: Record<string, unknown> = {}) {
  const customer = await chatCustomer(service.url, {
    name: 'Ana',
    email: `ana${++customers}@example.com`,
    ...claims,
  });
  const { conversation_id: id } = await customer.write(text);
  const texts = async () =>
    ((await customer.read()) as Array<{ from: string; text: string }>)
      .filter(({ from }) => from !== 'customer')
      .map((each) => each.text);
  return {
    id,
    customer,
    texts,
    email: (claims.email as string | undefined) ?? `ana${customers}@example.com`,
  };
}
const byId = (id: string) => ({ conversationId: { __rl: true, mode: 'id', value: id } });
const hookById = (id: string) => ({ subscriptionId: { __rl: true, mode: 'list', value: id } });

describe('Conversation', () => {
  it('takes the conversation of the trigger’s event by default', async () => {
    const { id } = await open();
    const { items } = await conversation('get', {
      input: [{ event: 'message.received', conversation: { id } }],
    });
    expect(items[0]).toMatchObject({
      id,
      status: 'ai_active',
      messages: [{ direction: 'inbound', text: 'Hello' }],
    });
  });

  it('gets as many of the newest messages as asked for', async () => {
    const { id, customer } = await open('one');
    await customer.write('two');
    const get = async (messages: number) =>
      (await conversation('get', { parameters: { ...byId(id), options: { messages } } })).items[0]!
        .messages as Array<{ text: string }>;
    expect((await get(1)).map(({ text }) => text)).toEqual(['two']);
    expect(await get(0)).toEqual([]);
  });

  it('finds by e-mail and by phone', async () => {
    const { id, email } = await open('Hi', { phone: '+49 170 1234567' });
    const byEmail = await conversation('findByContact', {
      parameters: { findBy: 'email', email: ` ${email} ` },
    });
    const byPhone = await conversation('findByContact', {
      parameters: { findBy: 'phone', phone: '+49 170 1234567' },
    });
    expect([byEmail.items[0]!.id, byPhone.items[0]!.id]).toEqual([id, id]);
  });

  it('fails for an unknown contact and says how to go on without', async () => {
    const error = await failureOf(
      conversation('findByContact', {
        parameters: { findBy: 'email', email: 'nobody@example.com' },
      }),
    );
    expect(error).toMatchObject({
      httpCode: '404',
      description: expect.stringContaining('Return Nothing'),
    });
  });

  it('returns nothing for an unknown contact when told so, and the others all the same', async () => {
    const { id, email } = await open();
    const { items, paired } = await conversation('findByContact', {
      parameters: { findBy: 'email', email: '={{ $json.email }}', ifNotFound: 'empty' },
      input: [{ email: 'nobody@example.com' }, { email }],
    });
    expect(items.map((each) => each.id)).toEqual([id]);
    expect(paired).toEqual([{ item: 1 }]);
  });

  it('lists by status, channel and funnel stage, up to a limit or all', async () => {
    const opened = await Promise.all([open(), open(), open()]);
    for (const { id } of opened)
      await conversation('setFunnelStage', { parameters: { ...byId(id), funnelStage: 'lost' } });
    const list = async (parameters: Rest['parameters']) =>
      (await conversation('getAll', { parameters })).items.map(({ id }) => id);
    const lost = { status: 'ai_active', channel: 'web_chat', funnel_stage: 'lost' };
    expect((await list({ returnAll: true, filters: lost })).sort()).toEqual(
      opened.map(({ id }) => id).sort(),
    );
    expect(await list({ returnAll: false, limit: 2, filters: lost })).toHaveLength(2);
    expect(
      await list({ returnAll: true, filters: { ...lost, channel: 'whatsapp_cloud' } }),
    ).toEqual([]);
  });

  it('reads all pages of a long list, each item once', async () => {
    const other = await startTestService();
    try {
      const many = 230;
      for (let i = 0; i < many; i += 1) await (await chatCustomer(other.url)).write('Hi');
      const all = await conversation('getAll', {
        credential: { baseUrl: other.url, apiKey: other.apiKey },
        parameters: { returnAll: true },
      });
      const some = await conversation('getAll', {
        credential: { baseUrl: other.url, apiKey: other.apiKey },
        parameters: { limit: 210 },
      });
      expect(new Set(all.items.map(({ id }) => id)).size).toBe(many);
      expect(some.items).toHaveLength(210);
      expect(all.paired.at(-1)).toEqual({ item: 0 });
    } finally {
      await other.stop();
    }
  });

  it('sends a message that the customer reads, and pauses the agent', async () => {
    const { id, texts } = await open();
    const { items } = await conversation('sendMessage', {
      parameters: { ...byId(id), text: 'Grüße 🎉' },
    });
    expect(items[0]).toMatchObject({
      message: { direction: 'outbound', text: 'Grüße 🎉', sender: { type: 'api' } },
      conversation: { id, status: 'human_active' },
    });
    expect(await texts()).toEqual(['Grüße 🎉']);
  });

  it('takes over, hands back, sets a stage and closes with a verdict', async () => {
    const { id } = await open();
    const status = async (operation: string, parameters = {}) =>
      (await conversation(operation, { parameters: { ...byId(id), ...parameters } })).items[0];
    expect(await status('takeOver')).toMatchObject({ id, status: 'human_active' });
    expect(await status('handBack')).toMatchObject({ id, status: 'ai_active' });
    expect(await status('setFunnelStage', { funnelStage: 'qualified' })).toMatchObject({
      id,
      funnel_stage: 'qualified',
    });
    expect(await status('close', { summary: 'Bought', verdict: 'goal_reached' })).toMatchObject({
      id,
      status: 'closed',
      outcome: { verdict: 'goal_reached', summary: 'Bought', closed_by: { type: 'api' } },
    });
  });

  it('offers every verdict, status, stage and channel the service knows', async () => {
    const values = (name: string, resource = 'conversation'): unknown[] =>
      actionNode.description.properties
        .filter(({ displayOptions }) => displayOptions?.show?.resource?.includes(resource))
        .flatMap((each) =>
          each.type === 'collection'
            ? (each.options as typeof actionNode.description.properties)
            : [each],
        )
        .filter((each) => each.name === name)
        .flatMap((each) => (each.options as Array<{ value: string }>).map(({ value }) => value));
    for (const verdict of values('verdict')) {
      const { id } = await open();
      const { items } = await conversation('close', {
        parameters: { ...byId(id), summary: 'x', verdict: verdict as string },
      });
      expect(items[0]).toMatchObject({ outcome: { verdict } });
    }
    for (const name of ['status', 'channel', 'funnel_stage']) {
      for (const value of values(name))
        await conversation('getAll', { parameters: { filters: { [name]: value as string } } });
    }
    for (const [resource, statuses] of [
      ['tool', TOOL_STATUSES],
      ['toolCall', TOOL_CALL_STATUSES],
    ] as const) {
      expect(values('status', resource).sort()).toEqual([...statuses].sort());
    }
  });
});

describe('Send Message is sent once', () => {
  it('under Retry On Fail, although the first answer is lost', async () => {
    const { id, texts } = await open();
    const wire = await startWire(() => service.url);
    try {
      let lost = 0;
      wire.loses = (method) => method === 'POST' && lost++ === 0;
      const { items } = await conversation('sendMessage', {
        credential: { baseUrl: wire.url, apiKey: service.apiKey },
        parameters: { ...byId(id), text: 'once' },
        node: { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 },
      });
      expect(lost).toBe(2);
      expect(items).toHaveLength(1);
      expect(await texts()).toEqual(['once']);
      const keys = wire.seen.map(({ headers }) => headers['idempotency-key']);
      expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
      expect(keys[0]).toBe(keys[1]);
    } finally {
      await wire.close();
    }
  });

  it('but each item, each run of a loop and each execution sends its own', async () => {
    const { id, texts } = await open();
    const parameters = { ...byId(id), text: 'same text' };
    await conversation('sendMessage', { parameters, input: [{}, {}] });
    expect(await texts()).toHaveLength(2);
    await conversation('sendMessage', { parameters, runs: 2, executionId: '2' });
    expect(await texts()).toHaveLength(4);
    await conversation('sendMessage', { parameters, executionId: '3' });
    await conversation('sendMessage', { parameters, executionId: '3', node: { id: 'node-2' } });
    await conversation('sendMessage', { parameters, executionId: '3', workflowId: 'workflow-2' });
    expect(await texts()).toHaveLength(7);
  });

  it('for a deduplication key, whichever execution asks', async () => {
    const { id, texts } = await open();
    const send = (key: string, text = 'hi', executionId = '1') =>
      conversation('sendMessage', {
        executionId,
        parameters: { ...byId(id), text, options: { deduplicationKey: key } },
      });
    const first = await send('evt_1', 'hi', '1');
    const again = await send('evt_1', 'hi', '2');
    expect(again.items).toEqual(first.items);
    await send('evt_2', 'hi', '3');
    expect(await texts()).toHaveLength(2);
    const error = await failureOf(send('evt_1', 'another text', '4'));
    expect(error).toMatchObject({
      httpCode: '409',
      description: expect.stringContaining('Deduplication Key'),
    });
    expect(await texts()).toHaveLength(2);
  });

  it('when an agent’s tool call is tried again, which n8n counts as another run', async () => {
    const { id, texts } = await open();
    const call = async (runIndex: number, text: string) => {
      const node = ourNode(ACTION, {
        resource: 'conversation',
        operation: 'sendMessage',
        ...byId(id),
        text,
      });
      const wf = workflowWith(node);
      const runData = workflow.createRunExecutionData({});
      const input = { ai_tool: [[{ json: {} }]], main: [[{ json: {} }]] };
      const context = new core.SupplyDataContext(
        wf,
        wf.getNode(node.name)!,
        additionalData(credential, { executionId: '9' }),
        'webhook',
        runData,
        runIndex,
        [{ json: {} }],
        input,
        'ai_tool',
        { node, data: input, source: null },
        [],
      );
      return actionNode.execute!.call(context as never);
    };
    await call(0, 'from the tool');
    await call(1, 'from the tool');
    await call(2, 'another text');
    expect(await texts()).toEqual(['from the tool', 'another text']);
  });
});

describe('Subscription', () => {
  const subscribe = async (event = 'message.received', url = 'http://127.0.0.1:9/hook') =>
    (
      await service.api.post('/api/hooks', {
        event,
        target_url: `${url}/${Math.random()}`,
        source: 'test',
      })
    ).body.id as string;

  it('lists and deletes', async () => {
    const id = await subscribe();
    const list = async () =>
      (await subscription('getAll', { parameters: { returnAll: true } })).items;
    expect(await list()).toContainEqual(expect.objectContaining({ id, source: 'test' }));
    expect((await list()).every((each) => !('secret' in each))).toBe(true);
    expect((await subscription('delete', { parameters: hookById(id) })).items).toEqual([
      { id, deleted: true },
    ]);
    expect(await list()).not.toContainEqual(expect.objectContaining({ id }));
  });

  it('sends a test event, shows its delivery, sends it again by either id, and recovers what failed', async () => {
    let status = 200;
    const received: string[] = [];
    const target = await startHttpServer((req, res) => {
      received.push(String(req.headers['x-service-redelivery'] ?? 'automatic'));
      res.writeHead(status).end();
    });
    const id = await subscribe('conversation.opened', target.url);
    try {
      const { items } = await subscription('sendTestEvent', { parameters: hookById(id) });
      const [sent] = items as Array<{ id: string; event_id: string }>;
      const deliveries = async () =>
        (await subscription('getDeliveries', { parameters: { ...hookById(id), limit: 10 } }))
          .items as Array<{ id: string; status: string }>;
      const until = (wanted: string) =>
        waitFor(wanted, async () => (await deliveries()).every((each) => each.status === wanted));
      await until('delivered');
      expect(await deliveries()).toEqual([
        expect.objectContaining({ id: sent!.id, event_id: sent!.event_id }),
      ]);

      for (const deliveryId of [sent!.id, sent!.event_id]) {
        const again = await subscription('redeliver', {
          parameters: { ...hookById(id), deliveryId },
        });
        expect(again.items[0]).toMatchObject({ id: sent!.id });
        await until('delivered');
      }
      expect(received).toEqual(['automatic', 'manual', 'manual']);

      status = 404;
      await subscription('sendTestEvent', { parameters: hookById(id) });
      await waitFor('a failed delivery', async () =>
        (await deliveries()).some((each) => each.status === 'failed'),
      );
      status = 200;
      const since = new Date(Date.now() - 60_000).toISOString();
      const recovered = await subscription('recover', { parameters: { ...hookById(id), since } });
      expect(recovered.items).toEqual([{ redelivered: 1 }]);
      await until('delivered');
    } finally {
      await subscription('delete', { parameters: hookById(id) });
      await target.close();
    }
  });

  it('rotates the secret, puts it out only when asked to, says what to do, and ends the overlap', async () => {
    const id = await subscribe();
    const rotate = async (parameters = {}) =>
      (await subscription('rotateSecret', { parameters: { ...hookById(id), ...parameters } }))
        .items[0]!;
    const quiet = await rotate();
    expect(quiet).toEqual({
      id,
      event: 'message.received',
      target_url: expect.any(String),
      source: 'test',
      status: 'active',
      consecutive_failures: 0,
      last_delivery_at: null,
      created_at: expect.any(String),
      revision: 1,
      previous_secret_expires_at: expect.any(String),
      notice: expect.stringContaining('unpublish and publish it again'),
    });
    expect(JSON.stringify(quiet)).not.toContain('whsec_');
    expect(Date.parse(String(quiet.previous_secret_expires_at)) - Date.now()).toBeGreaterThan(
      23 * 3_600_000,
    );
    expect(await rotate({ returnSecret: true })).toMatchObject({
      id,
      secret: expect.stringMatching(/^whsec_/),
    });
    const revoke = async () =>
      (await subscription('revokePreviousSecrets', { parameters: hookById(id) })).items;
    expect(await revoke()).toEqual([expect.objectContaining({ id, revoked: 2 })]);
    expect(await revoke()).toEqual([expect.objectContaining({ id, revoked: 0 })]);
    for (let n = 0; n < 4; n++) await rotate();
    const refused = await failureOf(rotate());
    expect(refused.message).toContain('5 secrets of this subscription already sign');
    expect(refused.description).toContain('Revoke Previous Secrets');
    await subscription('delete', { parameters: hookById(id) });
  });

  it('gets every event, and a sample with the field names of a real one', async () => {
    const { items } = await subscription('getEvents');
    expect(items.map(({ name }) => name)).toContain('message.received');
    expect(items.length).toBeGreaterThanOrEqual(6);
    const sample = await subscription('getSample', {
      parameters: { event: 'conversation.closed' },
    });
    expect(sample.items[0]).toMatchObject({
      event: 'conversation.closed',
      outcome: { verdict: expect.any(String) },
    });
  });

  it('refuses a time that is none, and says what to enter', async () => {
    const error = await failureOf(
      subscription('recover', { parameters: { ...hookById('sub_1'), since: 'yesterday' } }),
    );
    expect(error).toMatchObject({
      message: '"yesterday" is not a date and time',
      description: expect.stringContaining('$now'),
    });
  });
});

describe('When something is wrong', () => {
  it('shows the service’s own message, a fix and the request ID', async () => {
    const { id } = await open();
    const parameters = { ...byId(id), summary: 'x', verdict: 'unknown' };
    await conversation('close', { parameters });
    const error = await failureOf(conversation('close', { parameters }));
    const { body } = await service.api.post(`/api/conversations/${id}/close`, {
      summary: 'x',
      verdict: 'unknown',
    });
    expect(error).toMatchObject({
      name: 'NodeApiError',
      message: body.error.message,
      httpCode: '409',
    });
    expect(error.description).toMatch(/Find by Contact.*Request ID: req_/);
  });

  it('names the field at fault', async () => {
    const { id } = await open();
    const error = await failureOf(
      conversation('close', {
        parameters: { ...byId(id), summary: 'x', verdict: '={{ "splendid" }}' },
      }),
    );
    expect(error).toMatchObject({
      httpCode: '400',
      description: expect.stringContaining('Field: verdict.'),
    });
  });

  it('tells a wrong key from a wrong address', async () => {
    const wrongKey = await failureOf(
      conversation('getAll', {
        credential: { baseUrl: service.url, apiKey: `cs_live_${'x'.repeat(32)}` },
      }),
    );
    expect(wrongKey).toMatchObject({
      httpCode: '401',
      description: expect.stringContaining('valid API key'),
    });
    const nothing = await freeAddress();
    const wrongAddress = await failureOf(
      conversation('getAll', { credential: { baseUrl: nothing, apiKey: service.apiKey } }),
    );
    expect(wrongAddress.description).toContain(`Nothing answers at ${nothing} (ECONNREFUSED)`);
    expect(wrongAddress.context.itemIndex).toBe(0);
  });

  it('says so when something else answers, or the address redirects', async () => {
    const page = await startHttpServer((_req, res) =>
      res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works</h1>'),
    );
    const elsewhere: string[] = [];
    const other = await startHttpServer((req, res) => {
      elsewhere.push(String(req.headers.authorization));
      res.end('{}');
    });
    const redirect = await startHttpServer((_req, res) =>
      res.writeHead(301, { location: `${other.url}/api` }).end(),
    );
    try {
      const html = await failureOf(
        conversation('getAll', { credential: { baseUrl: page.url, apiKey: 'k' } }),
      );
      expect(html.message).toBe(
        'The base URL answers with status 200, but not as Conversation Service',
      );
      const moved = await failureOf(
        conversation('getAll', { credential: { baseUrl: redirect.url, apiKey: 'k' } }),
      );
      expect(moved.message).toBe(`The base URL redirects to ${other.url}/api`);
      expect(elsewhere).toEqual([]);
    } finally {
      await Promise.all([page.close(), redirect.close(), other.close()]);
    }
  });

  it('never sends the key over http to a host that is not local', async () => {
    const error = await failureOf(
      conversation('getAll', {
        credential: { baseUrl: 'http://conversations.example.com', apiKey: 'k' },
      }),
    );
    expect(error).toMatchObject({
      name: 'NodeOperationError',
      message:
        'The base URL must begin with https:// because conversations.example.com is not a local host',
      description: expect.stringContaining('others could read the API key'),
    });
  });

  it.each(['={{ "" }}', '../hooks', 'conv_1/close', 'conv 1', '?'])(
    'calls nothing for the ID "%s"',
    async (id) => {
      const calls: string[] = [];
      const spy = await startHttpServer((req, res) => {
        calls.push(req.url ?? '');
        res.end('{}');
      });
      try {
        const error = await failureOf(
          conversation('takeOver', {
            credential: { baseUrl: spy.url, apiKey: 'k' },
            parameters: byId(id),
          }),
        );
        expect(error).toMatchObject({
          name: 'NodeOperationError',
          context: { itemIndex: 0 },
          description: expect.stringContaining('$json'),
        });
        expect(calls).toEqual([]);
      } finally {
        await spy.close();
      }
    },
  );

  it('refuses an empty text before it calls', async () => {
    const error = await failureOf(
      conversation('sendMessage', { parameters: { ...byId('conv_1'), text: ' ' } }),
    );
    expect(error.message).toBe('The text of the message is empty');
  });

  it('goes on with the other items, each error in the place of its item, when told to', async () => {
    const { id } = await open();
    const { items, paired } = await conversation('get', {
      parameters: byId('={{ $json.id }}'),
      input: [{ id: 'conv_unknown' }, { id }, {}],
      node: { onError: 'continueRegularOutput' },
    });
    expect(items).toEqual([
      {
        error: expect.stringContaining('conv_unknown'),
        details: { code: 'not_found', fix: expect.stringContaining('Check the ID') },
      },
      expect.objectContaining({ id }),
      { error: 'The ID of the conversation is empty', details: { fix: expect.any(String) } },
    ]);
    expect(paired).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
  });

  it('sends failed items to the error output when there is one', async () => {
    const { id } = await open();
    const { items, errors } = await conversation('get', {
      parameters: byId('={{ $json.id }}'),
      input: [{ id: 'conv_unknown' }, { id }],
      node: { onError: 'continueErrorOutput' },
    });
    expect(items).toEqual([expect.objectContaining({ id })]);
    expect(errors).toEqual([
      expect.objectContaining({
        id: 'conv_unknown',
        error: expect.stringContaining('conv_unknown'),
      }),
    ]);
  });

  it('names the item that failed', async () => {
    const { id } = await open();
    const error = await failureOf(
      conversation('get', {
        parameters: byId('={{ $json.id }}'),
        input: [{ id }, { id: 'conv_unknown' }],
      }),
    );
    expect(error.context.itemIndex).toBe(1);
  });
});

describe('A 429', () => {
  const through = async (refusals: number[], check: (wire: Wire) => Promise<void>) => {
    const wire = await startWire(() => service.url);
    wire.refusals.push(...refusals);
    try {
      await check(wire);
    } finally {
      await wire.close();
    }
  };
  const getEvents = (wire: Wire) =>
    subscription('getEvents', { credential: { baseUrl: wire.url, apiKey: service.apiKey } });

  it('is waited for by its Retry-After, and the call is made again', () =>
    through([2, 0], async (wire) => {
      const before = Date.now();
      expect((await getEvents(wire)).items.length).toBeGreaterThan(0);
      expect(Date.now() - before).toBeGreaterThanOrEqual(2900);
      expect(wire.seen).toHaveLength(3);
    }));

  it('that asks for more than 60 seconds fails at once and says so', () =>
    through([61], async (wire) => {
      const error = await failureOf(getEvents(wire));
      expect(error).toMatchObject({
        httpCode: '429',
        message: 'Too many calls.',
        description: expect.stringContaining('60 seconds'),
      });
      expect(wire.seen).toHaveLength(1);
    }));

  it('is not waited for longer than 60 seconds in all', () =>
    through([1, 60], async (wire) => {
      expect(await failureOf(getEvents(wire))).toMatchObject({ httpCode: '429' });
      expect(wire.seen).toHaveLength(2);
    }));

  it('of the real service is understood', async () => {
    const limited = await startTestService({ env: { API_RATE_LIMIT_PER_MINUTE: '1' } });
    try {
      const { headers } = await limited.api.get('/api/hooks');
      expect(headers.get('retry-after')).toBeNull();
      const refused = await limited.api.get('/api/hooks');
      expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    } finally {
      await limited.stop();
    }
  });
});
