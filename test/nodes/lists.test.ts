import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INodeListSearchResult, INodePropertyOptions } from 'n8n-workflow';
import { chatCustomer } from '../helpers/apiClient.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import {
  ACTION,
  actionNode,
  loadOptionsContext,
  ourNode,
  triggerNode,
  type Credential,
} from './helpers/n8n.ts';

let service: TestService;
let credential: Credential;
beforeAll(async () => {
  service = await startTestService();
  credential = { baseUrl: service.url, apiKey: service.apiKey };
});
afterAll(() => service.stop());

const search = (method: string, filter?: string, cursor?: string): Promise<INodeListSearchResult> =>
  actionNode.methods!.listSearch![method]!.call(
    loadOptionsContext(ourNode(ACTION, {}), credential) as never,
    filter,
    cursor,
  );

describe('The list of events', () => {
  const events = triggerNode.description.properties.find(({ name }) => name === 'events')!;
  const options = events.options as INodePropertyOptions[];

  it('is the one of the service', async () => {
    const { body } = await service.api.get('/api/hooks/events');
    const described = body.data.map(({ name, description }: Record<string, string>) => ({
      value: name,
      description,
    }));
    const byValue = (a: { value: unknown }, b: { value: unknown }) =>
      String(a.value).localeCompare(String(b.value));
    expect(options.map(({ value, description }) => ({ value, description })).sort(byValue)).toEqual(
      described.sort(byValue),
    );
  });

  it("gives n8n's node search a trigger action for each event, in words", () => {
    // What n8n's editor makes them of: a list in the code, of a field with this name.
    expect(events.displayName).toBe('Events');
    for (const { name, action } of options) expect(action).toBe(`On ${name.toLowerCase()}`);
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
          /^Ana Lopez · a••@e•+\.com · \d{1,2} \w+, \d\d:\d\d · With the Agent · Web Chat$/,
        ),
        value: ana,
        url: `${service.url}/conversations/${ana}`,
      },
    ]);
    expect((await search('searchContacts', 'lopez')).results).toEqual([
      {
        name: expect.stringMatching(/^Ana Lopez · a••@e•+\.com · Web Chat · /),
        value: expect.stringMatching(/^ctc_/),
      },
    ]);
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
