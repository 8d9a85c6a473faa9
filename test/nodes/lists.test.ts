import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INodeListSearchResult, INodePropertyOptions } from 'n8n-workflow';
import { chatCustomer } from '../helpers/apiClient.ts';
import { EVENT_NAMES } from '../../service/src/deliveries/event.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import {
  ACTION,
  actionNode,
  loadOptionsContext,
  ourNode,
  TRIGGER,
  triggerNode,
  type Credential,
} from './helpers/n8n.ts';
import { freeAddress, startHttpServer } from './helpers/strangers.ts';

let service: TestService;
let credential: Credential;
beforeAll(async () => {
  service = await startTestService();
  credential = { baseUrl: service.url, apiKey: service.apiKey };
});
afterAll(() => service.stop());

const getEvents = (using: Credential): Promise<INodePropertyOptions[]> =>
  triggerNode.methods!.loadOptions!.getEvents!.call(
    loadOptionsContext(ourNode(TRIGGER, {}), using) as never,
  );
const search = (method: string, filter?: string, cursor?: string): Promise<INodeListSearchResult> =>
  actionNode.methods!.listSearch![method]!.call(
    loadOptionsContext(ourNode(ACTION, {}), credential) as never,
    filter,
    cursor,
  );

describe('The list of events', () => {
  it('comes from the service', async () => {
    const { body } = await service.api.get('/api/hooks/events');
    const events = await getEvents(credential);
    expect(events.map(({ value }) => value).sort()).toEqual(
      body.data.map(({ name }: { name: string }) => name).sort(),
    );
    expect(events).toContainEqual({
      name: 'Conversation Handed Over',
      value: 'conversation.handed_over',
      description: 'A person took over',
    });
  });

  it('shows what a newer service adds', async () => {
    const newer = await startHttpServer((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(
        JSON.stringify({
          data: [{ name: 'message.edited', description: 'The customer corrected', sample: {} }],
          next_cursor: null,
        }),
      );
    });
    try {
      const events = await getEvents({ baseUrl: newer.url, apiKey: 'k' });
      expect(events).toEqual([
        { name: 'Message Edited', value: 'message.edited', description: 'The customer corrected' },
      ]);
    } finally {
      await newer.close();
    }
  });

  it.each([
    ['nothing answers', async () => ({ baseUrl: await freeAddress(), apiKey: 'k' })],
    ['the key is wrong', async () => ({ baseUrl: service.url, apiKey: 'k' })],
    ['the address is none', async () => ({ baseUrl: '', apiKey: '' })],
  ])('is the built-in one when %s, with every event', async (_what, using) => {
    const builtIn = await getEvents(await using());
    expect(builtIn).toEqual(await getEvents(credential));
    expect(builtIn).toHaveLength(EVENT_NAMES.length);
  });
});

describe('The lists to choose from', () => {
  it('names conversations by contact, and finds one by a part of it', async () => {
    const { conversation_id: ana } = await (
      await chatCustomer(service.url, { name: 'Ana Lopez', email: 'ana@example.com' })
    ).write('Hi');
    await (await chatCustomer(service.url, { name: 'Bo' })).write('Hi');
    expect((await search('searchConversations')).results).toHaveLength(2);
    expect((await search('searchConversations', 'lopez')).results).toEqual([
      {
        name: expect.stringMatching(
          /^Ana Lopez · a••@e•+\.com · Web Chat · Agent Active · \d{1,2} \w+ \d{4}, \d\d:\d\d$/,
        ),
        value: ana,
        url: `${service.url}/conversations/${ana}`,
      },
    ]);
    expect((await search('searchConversations', ana)).results).toHaveLength(1);
    expect((await search('searchConversations', 'nobody')).results).toEqual([]);
  });

  it('pages through many conversations', async () => {
    for (let i = 0; i < 105; i += 1) await (await chatCustomer(service.url)).write('Hi');
    const first = await search('searchConversations');
    const second = await search('searchConversations', undefined, first.paginationToken as string);
    expect([first.results.length, second.results.length]).toEqual([100, 7]);
    expect(second.paginationToken).toBeUndefined();
    // Ana is on the second page.
    expect((await search('searchConversations', 'lopez')).results).toHaveLength(1);
  });

  it('names subscriptions by event and address', async () => {
    const { body } = await service.api.post('/api/hooks', {
      event: 'message.sent',
      target_url: 'https://127.0.0.1:9/hook',
      source: 'n8n',
    });
    expect((await search('searchSubscriptions', 'sent')).results).toEqual([
      { name: 'message.sent · https://127.0.0.1:9/hook', value: body.id },
    ]);
  });
});
