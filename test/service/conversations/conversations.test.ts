import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../service/src/platform/ids.ts';
import { chatCustomer } from '../../helpers/apiClient.ts';
import {
  EMITTED_EVENTS,
  startEventReceiver,
  type EventReceiver,
} from '../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const OFFSET_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;

describe('conversations and their events', () => {
  let service: TestService;
  let receiver: EventReceiver;

  beforeAll(async () => {
    receiver = await startEventReceiver();
    service = await startTestService({ ca: receiver.ca });
    for (const event of EMITTED_EVENTS) await receiver.subscribe(service, event);
  });
  // Every signature and every payload was as specified.
  afterEach(() => expect(receiver.faults).toEqual([]));
  afterAll(async () => {
    await service?.stop();
    await receiver?.close();
  });

  const opened = async (claims: Record<string, unknown> = {}) => {
    const customer = await chatCustomer(service.url, claims);
    const { conversation_id: id, message_id } = await customer.write('hello');
    return { customer, id, message_id, path: `/api/conversations/${id}` };
  };
  const close = (path: string) =>
    service.api.post(`${path}/close`, { summary: 's', verdict: 'unknown' });
  const eventsOf = (id: string) =>
    receiver.payloads().filter((payload) => payload.conversation.id === id);
  const eventOf = (id: string, event: string) =>
    waitFor(`${event} of ${id}`, () => eventsOf(id).find((payload) => payload.event === event));

  it('opens a conversation with the first message and emits conversation.opened and message.received as specified', async () => {
    const { id, message_id } = await opened({
      name: 'María',
      email: 'maria@example.com',
      phone: '+54 9 11 5555-0134',
    });
    const payload = await eventOf(id, 'conversation.opened');
    expect(payload).toEqual({
      id: expect.stringMatching(/^evt_[0-9A-Z]{26}$/),
      event: 'conversation.opened',
      occurred_at: expect.stringMatching(OFFSET_TIME),
      workspace: 'test',
      conversation: {
        id,
        agent_id: expect.stringMatching(/^agent_/),
        channel: 'web_chat',
        contact_display: '+54•••••••••34',
        contact_name: 'María',
        status: 'ai_active',
        funnel_stage: 'new',
        message_count: 1,
      },
    });
    const received = await eventOf(id, 'message.received');
    expect(Object.keys(received)).toEqual([
      'id',
      'event',
      'occurred_at',
      'workspace',
      'conversation',
      'message',
    ]);
    expect(received.message).toEqual({
      id: message_id,
      direction: 'inbound',
      sender: { type: 'customer', name: 'María' },
      type: 'text',
      text: 'hello',
      channel_message_id: expect.any(String),
      created_at: expect.stringMatching(OFFSET_TIME),
    });
    expect(received.id).not.toBe(payload.id);
  });

  it('moves the funnel to engaged at the second message of the customer', async () => {
    const { customer, id, path } = await opened();
    await service.api.post(`${path}/messages`, { text: 'ours does not count' });
    expect((await service.api.get(path)).body.funnel_stage).toBe('new');
    await customer.write('second');
    expect((await service.api.get(path)).body).toMatchObject({
      id,
      funnel_stage: 'engaged',
      message_count: 3,
    });
  });

  it('sends a message as a take-over does: agent paused, handed_over and then sent emitted, customer reads it', async () => {
    const { customer, id, path } = await opened();
    const answer = await service.api.post(`${path}/messages`, { text: 'hi, a person here' });
    expect(answer.status).toBe(201);
    expect(answer.body.message).toMatchObject({
      direction: 'outbound',
      sender: { type: 'api', name: 'Default key' },
      text: 'hi, a person here',
    });
    const { conversation } = answer.body;
    expect(conversation).toMatchObject({ id, status: 'human_active', message_count: 2 });
    const handedOver = await eventOf(id, 'conversation.handed_over');
    expect(handedOver.handover).toEqual({
      reason: 'api_message',
      note: null,
      triggered_by: { type: 'api', name: 'Default key' },
      at: expect.stringMatching(OFFSET_TIME),
    });
    expect(handedOver.conversation.status).toBe('human_active');
    const sent = await eventOf(id, 'message.sent');
    expect(sent.message.id).toBe(answer.body.message.id);
    expect(sent.id > handedOver.id).toBe(true);
    expect((await customer.read()).map(({ from, text, name }) => [from, text, name])).toEqual([
      ['customer', 'hello', null],
      ['team', 'hi, a person here', null],
    ]);

    const named = (name: string) => eventsOf(id).filter(({ event }) => event === name);
    await service.api.post(`${path}/messages`, { text: 'once more' });
    await waitFor('both replies', () => named('message.sent').length === 2);
    await close(path);
    await eventOf(id, 'conversation.closed');
    expect(named('conversation.handed_over')).toHaveLength(1);
  });

  describe('actions by status', () => {
    /**
     * Brings a new conversation into a status by real calls. Only the agent brings one into
     * `awaiting_human`; its own tests cover that.
     */
    const inStatus = async (status: 'ai_active' | 'human_active' | 'closed') => {
      const conversation = await opened();
      if (status === 'human_active') await service.api.post(`${conversation.path}/takeover`);
      if (status === 'closed') await close(conversation.path);
      return conversation;
    };

    it.each([
      ['takeover', 'ai_active', 200, 'human_active'],
      ['takeover', 'human_active', 200, 'human_active'],
      ['takeover', 'closed', 409, 'closed'],
      ['handback', 'ai_active', 200, 'ai_active'],
      ['handback', 'human_active', 200, 'ai_active'],
      ['handback', 'closed', 409, 'closed'],
      ['messages', 'ai_active', 201, 'human_active'],
      ['messages', 'human_active', 201, 'human_active'],
      ['messages', 'closed', 409, 'closed'],
      ['close', 'ai_active', 200, 'closed'],
      ['close', 'human_active', 200, 'closed'],
      ['close', 'closed', 409, 'closed'],
    ] as const)('%s when %s answers %i and leaves it %s', async (action, from, status, to) => {
      const { path } = await inStatus(from);
      const before = (await service.api.get(path)).body;
      const body = {
        messages: { text: 'x' },
        close: { summary: 'second', verdict: 'goal_reached' },
      }[action as string];
      const answer = await service.api.post(`${path}/${action}`, body);
      expect(answer.status).toBe(status);
      if (status === 409) expect(answer.body.error.code).toBe('conversation_closed');
      const after = (await service.api.get(path)).body;
      expect(after.status).toBe(to);
      if (status === 409) expect(after).toEqual(before);
    });

    it('a second take-over emits nothing', async () => {
      const { id, path } = await opened();
      const first = (await service.api.post(`${path}/takeover`)).body;
      const second = (await service.api.post(`${path}/takeover`)).body;
      expect(second).toEqual(first);
      await close(path);
      await eventOf(id, 'conversation.closed');
      const handovers = eventsOf(id).filter(({ event }) => event === 'conversation.handed_over');
      expect(handovers.map(({ handover }) => handover.reason)).toEqual(['api_takeover']);
    });
  });

  it('closes with summary and verdict, and emits the outcome', async () => {
    const { id, path } = await opened();
    const { body } = await service.api.post(`${path}/close`, {
      summary: 'Booked the demo.',
      verdict: 'goal_reached',
    });
    const outcome = {
      verdict: 'goal_reached',
      summary: 'Booked the demo.',
      closed_by: { type: 'api', name: 'Default key' },
      closed_at: expect.stringMatching(OFFSET_TIME),
    };
    expect(body).toMatchObject({ status: 'closed', outcome, closed_at: body.outcome.closed_at });
    const payload = await eventOf(id, 'conversation.closed');
    expect(payload).toMatchObject({ outcome, conversation: { status: 'closed' } });
  });

  it('opens a new conversation when the customer writes after each close, which names the last one', async () => {
    const first = await opened({ name: 'Ana' });
    const { customer } = first;
    expect((await customer.write('two')).conversation_id).toBe(first.id);
    expect((await service.api.get(first.path)).body).toMatchObject({
      previous_conversation_id: null,
      message_count: 2,
    });
    let last = first.id;
    for (const text of ['three', 'four']) {
      await close(`/api/conversations/${last}`);
      const { conversation_id: next } = await customer.write(text);
      expect(next).not.toBe(last);
      expect((await service.api.get(`/api/conversations/${next}`)).body).toMatchObject({
        previous_conversation_id: last,
        status: 'ai_active',
        funnel_stage: 'new',
        message_count: 1,
        contact: { name: 'Ana' },
      });
      await eventOf(next, 'conversation.opened');
      last = next;
    }
    const texts = (await customer.read()).map(({ text }) => text);
    expect(texts).toEqual(['hello', 'two', 'three', 'four']);
  });

  it('emits conversation.qualified once for each conversation, the first time at qualified or beyond', async () => {
    const { id, path } = await opened();
    await service.api.patch(path, { funnel_stage: 'engaged' });
    const { body } = await service.api.patch(path, { funnel_stage: 'customer' });
    expect(body).toMatchObject({
      funnel_stage: 'customer',
      qualified_at: expect.stringMatching(OFFSET_TIME),
    });
    await service.api.patch(path, { funnel_stage: 'new' });
    await service.api.patch(path, { funnel_stage: 'qualified' });
    await close(path);
    await eventOf(id, 'conversation.closed');
    const qualified = eventsOf(id).filter(({ event }) => event === 'conversation.qualified');
    expect(qualified).toHaveLength(1);
    expect(qualified[0].funnel).toEqual({ stage: 'customer', previous_stage: 'engaged' });
    expect(qualified[0].conversation.funnel_stage).toBe('customer');
  });

  it('lost is not beyond qualified', async () => {
    const { id, path } = await opened();
    expect((await service.api.patch(path, { funnel_stage: 'lost' })).body).toMatchObject({
      funnel_stage: 'lost',
      qualified_at: null,
    });
    await close(path);
    await eventOf(id, 'conversation.closed');
    expect(eventsOf(id).map(({ event }) => event)).not.toContain('conversation.qualified');
  });

  it('reads the newest messages, oldest of them first, 0 to 200', async () => {
    const { customer, path } = await opened();
    for (const text of ['two', 'three', 'four']) await customer.write(text);
    const texts = async (query: string) =>
      (await service.api.get(path + query)).body.messages.map(({ text }: { text: string }) => text);
    expect(await texts('')).toEqual(['hello', 'two', 'three', 'four']);
    expect(await texts('?messages=2')).toEqual(['three', 'four']);
    expect(await texts('?messages=0')).toEqual([]);
    for (const wrong of ['-1', '201', 'many', '1.5']) {
      expect(await service.api.get(`${path}?messages=${wrong}`)).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_request', param: 'messages' } },
      });
    }
  });

  it('takes a note for the team: no event, nothing in the chat, masked in the answer', async () => {
    const { customer, id, path } = await opened({ email: 'maria@example.com' });
    const { status, body } = await service.api.post(`${path}/notes`, {
      text: 'Invoice to maria@example.com, please.',
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      conversation_id: id,
      text: 'Invoice to m••••@e••••••.com, please.',
      created_by: { type: 'api', name: 'Default key' },
    });
    expect((await service.api.get(path)).body).toMatchObject({
      status: 'ai_active',
      message_count: 1,
      messages: [{ text: 'hello' }],
    });
    expect((await service.api.get(`${path}/messages`)).body.data).toMatchObject([
      { text: 'hello' },
    ]);
    await service.api.post(`${path}/messages`, { text: 'A person here.' });
    await eventOf(id, 'message.sent');
    expect(JSON.stringify(eventsOf(id))).not.toContain('Invoice');
    expect((await customer.read()).map(({ text }) => text)).toEqual(['hello', 'A person here.']);

    await close(path);
    expect((await service.api.post(`${path}/notes`, { text: 'Paid.' })).status).toBe(201);
    expect((await service.api.post(`${path}/notes`, { text: ' ' })).status).toBe(400);
  });

  it.each([
    ['phone', '+54 9 11 5555-0177'],
    ['phone', '0054 (9) 11 5555 0177'],
    ['phone', '5491155550177'],
    ['email', 'Ana.Lookup@Example.com'],
  ])('finds a contact by %s %s, masked', async (field, value) => {
    const customer = await chatCustomer(service.url, {
      name: 'Ana',
      email: 'ana.lookup@example.com',
      phone: '+5491155550177',
    });
    const { conversation_id: id } = await customer.write('hi');
    const { status, body } = await service.api.post('/api/contacts/lookup', { [field]: value });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      contact: {
        id: customer.contactId,
        name: 'Ana',
        phone_masked: '+54•••••••••77',
        email_masked: 'a••••••••@e••••••.com',
      },
    });
  });

  it('prefers the open conversation, then the newest', async () => {
    const claim = { email: 'twice@example.com' };
    const first = await (await chatCustomer(service.url, claim)).write('first');
    const second = await (await chatCustomer(service.url, claim)).write('second');
    const found = async () => (await service.api.post('/api/contacts/lookup', claim)).body.id;
    expect(await found()).toBe(second.conversation_id);
    await close(`/api/conversations/${second.conversation_id}`);
    expect(await found()).toBe(first.conversation_id);
  });

  it('prefers a contact that its channel verified, however many claim the same number', async () => {
    const phone = '5491155550188';
    const theirs = await (await chatCustomer(service.url, { phone: `+${phone}` })).write('I am it');
    await service.changeStored((store) =>
      store.transaction(async (tx) => {
        const conversation = (await tx.conversations.get(theirs.conversation_id))!;
        const contact = (await tx.contacts.get(conversation.contactId))!;
        await tx.contacts.put({ ...contact, channel: 'whatsapp_cloud', verified: true });
        for (let claim = 0; claim < 201; claim += 1) {
          const contactId = newId('ctc');
          await tx.contacts.put({ ...contact, id: contactId });
          await tx.conversations.put({ ...conversation, id: newId('conv'), contactId });
        }
      }),
    );
    const { body } = await service.api.post('/api/contacts/lookup', { phone });
    expect(body.id).toBe(theirs.conversation_id);
  });

  it('answers 404 for an unknown contact and for one that never wrote', async () => {
    await chatCustomer(service.url, { email: 'silent@example.com' });
    for (const body of [
      { email: 'nobody@example.com' },
      { phone: '+34 600 000 000' },
      { email: 'silent@example.com' },
    ]) {
      expect(await service.api.post('/api/contacts/lookup', body)).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found' } },
      });
    }
  });

  it.each([
    [{}],
    [{ phone: '+34600000000', email: 'a@example.com' }],
    [{ phone: 'call me' }],
    [{ phone: 34600000000 }],
    [{ email: 'nope' }],
    [[]],
  ])('refuses %j: it takes exactly one of phone and email', async (body) => {
    expect(await service.api.post('/api/contacts/lookup', body)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request' } },
    });
  });
});
