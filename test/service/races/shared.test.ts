// What conversations share is only read: a lock on all of it holds no conversation up.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { testDatabaseUrl } from '../../helpers/storage.ts';
import {
  agentSays,
  ask,
  makeLive,
  startToolEndpoint,
  TOOL_TEST_ENV,
  type DefinedTool,
  type ToolEndpoint,
} from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { sides } from './sides.ts';

const SHARED = [
  'workspaces',
  'members',
  'sessions',
  'api_keys',
  'channels',
  'tools',
  'agent_settings',
  'payment_accounts',
  'events',
  'settings',
  'subscriptions',
];
const EVENTS = [
  'conversation.opened',
  'message.received',
  'message.sent',
  'conversation.handed_over',
  'conversation.closed',
];

const onPostgres = testDatabaseUrl() === null ? describe.skip : describe;

onPostgres('while somebody holds everything locked that conversations share', () => {
  let receiver: EventReceiver;
  let endpoint: ToolEndpoint;
  let tool: DefinedTool;
  /**
   * The receiver answers only at the end: each outcome is written to its subscription, which is
   * locked.
   */
  const held: ServerResponse[] = [];
  beforeAll(async () => {
    receiver = await startEventReceiver((_request, response) => void held.push(response));
    endpoint = await startToolEndpoint();
  });
  const service = sides({ ca: () => receiver.ca, env: () => TOOL_TEST_ENV });
  beforeAll(async () => {
    for (const event of EVENTS) await receiver.subscribe(service, event);
    tool = await endpoint.define(service.api, { name: 'find_order' }, '/find_order');
    await makeLive(service.api, tool);
    endpoint.forget();
  });
  afterAll(async () => {
    await receiver?.close();
    await endpoint?.close();
  });

  const holdAll = async () => {
    const holder = new pg.Client({ connectionString: testDatabaseUrl()! });
    await holder.connect();
    await holder.query('BEGIN');
    for (const table of SHARED)
      await holder.query(`SELECT id FROM "${service.schema!}"."${table}" FOR UPDATE`);
    return holder;
  };

  it('customers write, the agent calls a tool and answers, the team writes, takes over and closes, and events are delivered', async () => {
    const holder = await holdAll();
    try {
      const { customer, conversationId } = await ask(service.url, tool);
      expect(await agentSays(customer)).toBe('Done.');
      const act = (path: string, body: Record<string, unknown> = {}) =>
        service.api.post(`/api/conversations/${conversationId}/${path}`, body);
      expect((await act('messages', { text: 'A person now' })).status).toBe(201);
      expect((await act('handback')).status).toBe(200);
      expect((await act('takeover')).status).toBe(200);
      expect((await act('close', { summary: 's', verdict: 'goal_reached' })).status).toBe(200);
      const other = await (await chatCustomer(service.url)).write('Somebody else');
      expect(other.conversation_id).not.toBe(conversationId);
      await waitFor('the events', () =>
        EVENTS.every((event) =>
          receiver.payloads(event).some(({ conversation }) => conversation.id === conversationId),
        ),
      );
    } finally {
      await holder.end();
      for (const response of held) response.end();
    }
  });
});
