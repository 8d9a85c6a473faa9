// What belongs to one workspace cannot be read or changed with the API key of another. Every
// operation of the contract is called, so that a new one is covered too. Where it names a thing
// that the first workspace here does not have, the suite fails until it has one.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newWebhookTurn } from '../../../service/src/agent/webhook/webhookTurn.ts';
import { operations } from '../../../service/src/app/api/apiOperations.ts';
import { workspaceOf } from '../../../service/src/app/collections.ts';
import { systemClock } from '../../../service/src/platform/clock.ts';
import type { ServiceStore } from '../../../service/src/store/collections.ts';
import { createApiKey } from '../../../service/src/team/operations/apiKeys.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import { newToolCall } from '../../../service/src/tools/calls/toolCall.ts';
import * as client from '../../helpers/apiClient.ts';
import { MEMBER_ENV } from '../../helpers/browserless.ts';
import {
  ContractCalls,
  idFieldsInBody,
  operationOf,
  readingOperation,
} from '../../helpers/contractCalls.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { TOOL_TEST_ENV } from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are held against the contract by the client
type Json = any;

/** The phone number is that of the contract's example of a lookup. */
const MARIA = { name: 'María', phone: '+54 9 11 5555 0134' };
/** These act on what the caller's own workspace has by that name. */
const BY_NAME = ['publishTool', 'unpublishTool', 'putPaymentAccount'];
/** The catalogue of events is the same for all. */
const CATALOGUE = ['listEvents', 'getSample'];

/** Deletions come first, while the other workspace has nothing of its own to delete. */
const withKey = operations
  .filter(({ auth }) => auth === 'key')
  .toSorted((a, b) => a.method.localeCompare(b.method));

/** Calls an operation with what the first workspace has. */
const calls = new ContractCalls();
const { inPath, inField } = calls;
Object.assign(inPath, { published: 'find_order', 'payment-accounts': 'manual' });
Object.assign(inField, { q: MARIA.name, name: 'find_order', tool: 'find_order' });
inField.event = 'message.received';

/** @throws Error when it is a refusal */
function bodyOfSuccess({ status, body }: client.ApiAnswer): Json {
  if (status >= 300) throw new Error(JSON.stringify(body));
  return body;
}

const expectRefusal = ({ status, body }: client.ApiAnswer, code = 'not_found') =>
  expect([status, body.error?.code]).toEqual([code === 'not_found' ? 404 : 400, code]);

/** The ids in a value, without those of samples: these begin with `00`. */
const idsIn = (value: Json) => JSON.stringify(value).match(/[a-z]+_01[0-9A-Z]{24}/g) ?? [];

/** These change by themselves: counters, and what the service notes about itself. */
const RESTLESS = ['increments', 'counters', 'settings'];
/** Everything stored outside of the given workspace, except when an API key was last used. */
async function storedOutside(store: ServiceStore, workspaceId: string): Promise<Json[]> {
  const stored = [];
  for await (const record of store.dump()) {
    if ('job' in record || RESTLESS.includes(record.collection)) continue;
    const { collection, document } = record;
    if (workspaceOf(collection, document) !== workspaceId)
      stored.push({ collection, document: { ...document, lastUsedAt: null, lastUsedFrom: null } });
  }
  return stored;
}

describe('With the API key of another workspace', () => {
  let service: TestService;
  let otherKey: string;
  let other: client.ApiClient;
  let otherId: string;
  let messageId: string;
  let before: Json[];

  beforeAll(async () => {
    service = await startTestService({ env: { ...MEMBER_ENV, ...TOOL_TEST_ENV } });
    const make = async (id: string) =>
      bodyOfSuccess(await calls.call(service.api, operationOf(id)));
    const customer = await client.chatCustomer(service.url, MARIA);
    const written = await customer.write('hello');
    messageId = written.message_id;
    inPath.conversations = inField.conversation_id = written.conversation_id;
    inPath.contacts = inField.contact_id = customer.contactId;
    inField.member_id = (await make('listMembers')).data[0].id;
    inPath.hooks = (await make('createSubscription')).id;
    inPath.deliveries = (await make('sendTestEvent')).id;
    inPath.tools = (await make('publishTool')).id;
    inPath.channels = (await make('createChannel')).id;
    inPath.waits = (await make('openWait')).id;
    for (const id of ['listenForTest', 'publishWebhook', 'putPaymentAccount']) await make(id);
    inPath['payment-links'] = (await make('createPaymentLink')).id;
    const failed = await waitFor('the delivery to fail', async () => {
      const { data } = (await service.api.get(`/api/hooks/${inPath.hooks}/deliveries`)).body;
      return data[0].status === 'failed' && data[0];
    });
    inField.event_id = failed.event_id;
    await waitFor('the test call to fail', async () => !(await make('getTool')).going_live);
    otherKey = await service.changeStored(arrangeStored);
  });
  beforeEach(() => void (other = client.apiClient(service.url, otherKey)));
  afterAll(() => service?.stop());

  /** Adds what only an agent would bring about, then the other workspace. @returns the other's key */
  async function arrangeStored(store: ServiceStore): Promise<string> {
    const now = new Date();
    await store.transaction(async (tx) => {
      const tool = (await tx.tools.get(inPath.tools!))!;
      await tx.tools.put({ ...tool, status: 'live' });
      const { workspaceId, id: toolId, kind } = tool;
      const about = { workspaceId, conversationId: inPath.conversations!, controlEpoch: 1 };
      const asked = { ...about, toolId, kind, tool: tool.name, arguments: {} } as Json;
      const toolCall = newToolCall(asked, now);
      await tx.toolCalls.put({ ...toolCall, status: 'pending_approval' });
      const messages = { number: 1, firstMessage: 1, lastMessage: 1 };
      const turn = newWebhookTurn({ ...about, ...messages, isTest: false }, now);
      await tx.webhookTurns.put({ ...turn, status: 'suspended' });
      inPath['tool-calls'] = toolCall.id;
      inPath['agent-turns'] = inField.turn_id = turn.id;
    });
    const deps = { store, clock: systemClock };
    const workspace = await createWorkspace(deps, 'Other');
    otherId = workspace.id;
    before = await storedOutside(store, otherId);
    const permissions = ['contacts:reveal'] as const;
    const wanted = { name: 'test', createdBy: 'test', permissions };
    return (await createApiKey(deps, workspace, wanted)).key;
  }

  it.each(withKey)('$id reaches nothing of the first workspace', async (operation) => {
    const reading = readingOperation(operation);
    const shown = bodyOfSuccess(await calls.call(service.api, reading));
    // The first workspace can read what the operation names, so a refusal below is not for lack of it.
    const text = calls.addressOf(reading) + JSON.stringify(shown);
    for (const value of calls.pathValues(operation)) expect(text).toContain(value);
    expect(shown.data).not.toEqual([]);

    if (operation.errors.includes('not_found') && !BY_NAME.includes(operation.id))
      return expectRefusal(await calls.call(other, operation));
    const isList = operation.method === 'get' && 'data' in shown;
    const hidden = new Set(idsIn(before));
    for (const query of isList ? ['', calls.queryOf(operation)] : [calls.queryOf(operation)]) {
      // Both workspaces send the same: names and accounts of the one are free in the other.
      const answer = bodyOfSuccess(await calls.call(other, operation, query));
      expect(idsIn(answer).filter((id) => hidden.has(id))).toEqual([]);
      if (isList && !CATALOGUE.includes(operation.id)) expect(answer.data).toEqual([]);
    }
  });

  it('a contact of the first workspace is not revealed to a key that may reveal contacts', async () => {
    expectRefusal(await other.get(`/api/contacts/${inPath.contacts}?reveal=true`));
  });

  it('what the other workspace has of its own leads to nothing of the first', async () => {
    // The agent's turns are stored without a workspace, and would count as a change outside.
    await other.patch('/api/agent', { enabled: false });
    const customer = await client.chatCustomer(service.url, { workspace: 'other' });
    const conversation = (await customer.write('hello')).conversation_id;
    const hook = { event: 'message.received', target_url: 'https://127.0.0.1:9/own' };
    const deliveries = `/api/hooks/${(await other.post('/api/hooks', hook)).body.id}/deliveries`;
    expect((await other.get(`${deliveries}?event_id=${inField.event_id}`)).body.data).toEqual([]);
    for (const id of [inPath.deliveries, inField.event_id])
      expectRefusal(await other.post(`${deliveries}/${id}/redeliver`));
    const { turn_id, member_id } = inField;
    const wait = { ...calls.bodyOf(operationOf('openWait')), turn_id };
    for (const conversation_id of [conversation, null])
      expectRefusal(await other.post('/api/waits', { ...wait, conversation_id }));
    const assign = `/api/conversations/${conversation}/assign`;
    expectRefusal(await other.post(assign, { member_id }), 'invalid_request');
    const page = `/api/conversations/${conversation}/messages?cursor=${messageId}`;
    expectRefusal(await other.get(page), 'invalid_request');
  });

  it('nothing that the first workspace has stored is changed by any of this', async () => {
    expect(await service.changeStored((store) => storedOutside(store, otherId))).toEqual(before);
  });

  it('a subscription that names a conversation of the first workspace gets none of its events', async () => {
    const [own, others] = await Promise.all(
      [service.api, other].map(async (api) => {
        const filter = { conversation_ids: [inPath.conversations] };
        const target_url = 'https://127.0.0.1:9/filtered';
        const wanted = { event: 'message.sent', target_url, filter };
        const { id } = bodyOfSuccess(await api.post('/api/hooks', wanted));
        return `/api/hooks/${id}/deliveries`;
      }),
    );
    bodyOfSuccess(await calls.call(service.api, operationOf('sendMessage')));
    expect((await service.api.get(own!)).body.data).toHaveLength(1);
    expect((await other.get(others!)).body.data).toEqual([]);
  });

  it('every id that a body can name is tried above', () => {
    const tried = withKey.flatMap((each) =>
      idFieldsInBody(each).map((name) => `${each.id} ${name}`),
    );
    expect(tried).toEqual([
      'updateSubscription conversation_ids',
      'createSubscription conversation_ids',
      'assignConversation member_id',
      'openWait conversation_id',
      'openWait turn_id',
    ]);
  });
});
