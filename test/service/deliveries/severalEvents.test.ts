import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import {
  signatureFault,
  startEventReceiver,
  type EventReceiver,
} from '../../helpers/eventReceiver.ts';
import { removeSubscriptions } from '../../helpers/removeSubscriptions.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { sharedTestCa } from '../../helpers/tls.ts';
import { deliveriesOf, settledDeliveries } from './settledDeliveries.ts';

const CLOSING = { summary: 'Done', verdict: 'goal_reached' };

describe('a subscription for several events', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let customer: ChatCustomer;
  beforeAll(async () => {
    service = await startTestService({ ca: (await sharedTestCa()).ca });
  });
  afterAll(() => service?.stop());
  beforeEach(async () => {
    receiver = await startEventReceiver();
    customer = await chatCustomer(service.url);
  });
  afterEach(async () => {
    await removeSubscriptions(service.api);
    await receiver?.close();
  });

  const create = (body: object, path = '/events') =>
    service.api.post('/api/hooks', { target_url: receiver.url + path, ...body });
  const names = () => receiver.payloads().map(({ event }) => event as string);

  it('gets each event once, and is one subscription in the list', async () => {
    const { status, body } = await create({
      events: ['message.received', 'conversation.closed', 'message.received'],
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      event: 'message.received',
      events: ['message.received', 'conversation.closed'],
    });
    const { conversation_id } = await customer.write('hello');
    await service.api.post(`/api/conversations/${conversation_id}/close`, CLOSING);
    await receiver.payload('conversation.closed');
    await settledDeliveries(service, body.id);
    expect(names().sort()).toEqual(['conversation.closed', 'message.received']);
    expect((await service.api.get('/api/hooks')).body.data).toHaveLength(1);
  });

  it.each([
    [{ events: [] }, 'invalid_request', 'events'],
    [{ events: 'message.sent' }, 'invalid_request', 'events'],
    [{ events: ['message.sent', 'message.deleted'] }, 'unknown_event', 'events'],
    [{ event: 'message.sent', events: ['message.received'] }, 'invalid_request', 'event'],
    [{ event: 'message.sent', filter: { sender: ['api'] } }, 'invalid_request', 'filter.sender'],
    [{ event: 'message.sent', take_over: true }, 'invalid_request', 'take_over'],
    [
      { event: 'message.sent', filter: { senders: ['robot'] } },
      'invalid_request',
      'filter.senders.0',
    ],
    [
      { event: 'message.sent', owner: { instance_id: 'a' } },
      'invalid_request',
      'owner.workflow_id',
    ],
  ])('is refused with 400 for %j', async (body, code, param) => {
    expect(await create(body)).toMatchObject({ status: 400, body: { error: { code, param } } });
  });

  it('is refused when another subscription sends one of its events to the same target_url', async () => {
    const first = await create({ events: ['message.received', 'message.sent'] });
    const second = await create({ events: ['conversation.closed', 'message.sent'] });
    expect(second).toMatchObject({
      status: 409,
      body: { error: { code: 'subscription_exists', existing_id: first.body.id } },
    });
    expect(second.body.error.message).toContain('sends message.sent to this target_url');
    expect((await create({ events: ['conversation.closed'] })).status).toBe(201);
  });

  it('gets only what its filter lets through; a list of the filter does not apply to events without its field', async () => {
    const api = await create(
      { events: ['message.sent', 'conversation.closed'], filter: { senders: ['api'] } },
      '/api',
    );
    const people = await create(
      {
        events: ['message.sent', 'message.received', 'conversation.closed'],
        filter: { senders: ['customer', 'agent', 'team_member'], channels: [] },
      },
      '/people',
    );
    expect(people.body.filter).toEqual({ senders: ['customer', 'agent', 'team_member'] });
    const { conversation_id: id } = await customer.write('hello');
    const closed = await create(
      { events: ['message.received', 'conversation.closed'], filter: { statuses: ['closed'] } },
      '/closed',
    );
    const other = await create(
      { event: 'message.sent', filter: { conversation_ids: ['conv_other'] } },
      '/other',
    );
    const whatsapp = await create(
      {
        event: 'message.sent',
        filter: { channels: ['whatsapp_cloud'], funnel_stages: ['new'], conversation_ids: [id] },
      },
      '/whatsapp',
    );
    await service.api.post(`/api/conversations/${id}/messages`, { text: 'from a workflow' });
    await service.api.post(`/api/conversations/${id}/close`, CLOSING);
    const eventsOwedTo = async ({ body }: typeof api) =>
      (await deliveriesOf(service, body.id)).map(({ event }) => event).sort();
    expect(await eventsOwedTo(api)).toEqual(['conversation.closed', 'message.sent']);
    expect(await eventsOwedTo(people)).toEqual(['conversation.closed', 'message.received']);
    expect(await eventsOwedTo(closed)).toEqual(['conversation.closed']);
    expect(await eventsOwedTo(other)).toEqual([]);
    expect(await eventsOwedTo(whatsapp)).toEqual([]);
  });

  it('is changed under the same id and secret; what is left out stays', async () => {
    const { body: made } = await create({
      events: ['message.received'],
      filter: { channels: ['web_chat'] },
    });
    const { secret, ...before } = made;
    const patch = (body: object) => service.api.patch(`/api/hooks/${made.id}`, body);
    const changes = { events: ['message.sent', 'message.received'], catch_up: true };
    expect((await patch(changes)).body).toEqual({ ...before, ...changes, event: 'message.sent' });
    expect((await patch({ event: 'message.received' })).body).toMatchObject({
      event: 'message.received',
      events: ['message.received'],
    });
    expect((await patch({ filter: null })).body.filter).toBeNull();
    const moved = await patch({ target_url: `${receiver.url}/moved` });
    expect(moved.body.target_url).toBe(`${receiver.url}/moved`);
    await customer.write('hello');
    await settledDeliveries(service, made.id);
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/moved']);
    expect(signatureFault(receiver.requests[0]!, secret)).toBeNull();
  });

  it('stays as it is when a change is invalid: a duplicate, a private address, an unknown event or field, a contradiction, or no change at all', async () => {
    await create({ event: 'message.received' });
    const { body } = await create({ event: 'message.sent' });
    const patch = (changes: object) => service.api.patch(`/api/hooks/${body.id}`, changes);
    const unknownField = { param: 'pausd', message: 'pausd is not a known field.' };
    for (const [changes, error] of [
      [{ events: ['message.received'] }, { code: 'subscription_exists' }],
      [{ target_url: 'https://10.0.0.1/x' }, { code: 'target_url_not_public' }],
      [{ events: ['nothing'] }, { code: 'unknown_event' }],
      [{ pausd: true }, { code: 'invalid_request', ...unknownField }],
      [{}, { code: 'invalid_request' }],
      [{ event: 'message.sent', events: ['conversation.closed'] }, { param: 'event' }],
    ] as const)
      expect((await patch(changes)).body.error).toMatchObject(error);
    expect((await service.api.patch('/api/hooks/sub_none', { paused: true })).status).toBe(404);
    const [shown] = (await service.api.get('/api/hooks')).body.data;
    expect(shown).toMatchObject({ events: ['message.sent'], target_url: body.target_url });
  });
});
