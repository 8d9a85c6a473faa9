import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer, readWholeChat } from '../../../helpers/apiClient.ts';
import { readChatStream, type Seen } from '../../../helpers/chatStreamReader.ts';
import { startEventReceiver, type EventReceiver } from '../../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

describe('chat', () => {
  let service: TestService;
  let receiver: EventReceiver;
  beforeAll(async () => {
    receiver = await startEventReceiver();
    service = await startTestService({ ca: receiver.ca });
    await receiver.subscribe(service, 'message.received');
  });
  afterAll(async () => {
    await service?.stop();
    await receiver?.close();
  });

  const close = (id: string) =>
    service.api.post(`/api/conversations/${id}/close`, { summary: 's', verdict: 'unknown' });
  const reply = (id: string, text: string) =>
    service.api.post(`/api/conversations/${id}/messages`, { text });

  it('takes the same client_message_id as one message, also twenty at once', async () => {
    const customer = await chatCustomer(service.url);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => customer.write('once', 'same')),
    );
    expect(new Set(answers.map(({ message_id }) => message_id)).size).toBe(1);
    expect(await customer.read()).toHaveLength(1);
    const other = await chatCustomer(service.url);
    expect((await other.write('mine', 'same')).message_id).not.toBe(answers[0]!.message_id);
    const events = () =>
      receiver
        .payloads('message.received')
        .filter(({ message }) => message.channel_message_id === 'same');
    await waitFor('both events', () => events().length === 2);
  });

  it('keeps the first text of a client_message_id, whatever a repeat says, also after the conversation was closed', async () => {
    const customer = await chatCustomer(service.url);
    const first = await customer.write('the first', 'again');
    expect(await customer.write('another text', 'again')).toEqual(first);
    await close(first.conversation_id);
    expect(await customer.write('the first', 'again')).toEqual(first);
    expect((await customer.read()).map(({ text }: Seen) => text)).toEqual(['the first']);
    const { body } = await service.api.get(`/api/conversations/${first.conversation_id}`);
    expect(body).toMatchObject({ status: 'closed', message_count: 1 });
  });

  it('makes a new contact for each session, and a token reads its own conversations only', async () => {
    const claims = { name: 'Ana', email: 'ana@example.com' };
    const one = await chatCustomer(service.url, claims);
    const two = await chatCustomer(service.url, claims);
    expect(one.contactId).not.toBe(two.contactId);
    await one.write('private');
    expect(await two.read()).toEqual([]);
    expect((await one.api.get('/api/hooks')).status).toBe(401);
    expect((await service.api.get('/api/chat/messages')).status).toBe(401);
  });

  it('shows customers their own words unmasked, and automations masked ones', async () => {
    const customer = await chatCustomer(service.url, { name: 'Ana', email: 'ana@example.com' });
    const { conversation_id } = await customer.write('mail me at ANA@example.com');
    expect((await customer.read())[0].text).toBe('mail me at ANA@example.com');
    const { body } = await service.api.get(`/api/conversations/${conversation_id}`);
    expect(body.messages[0].text).toBe('mail me at a••@e••••••.com');
  });

  const startSession = (claims: object) =>
    apiClient(service.url, null).post('/api/chat/sessions', claims);

  it.each([
    [{ email: 'nope' }, 'email'],
    [{ phone: 'call me' }, 'phone'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 5 }, 'name'],
  ])('refuses the claims %j', async (claims, param) => {
    expect(await startSession(claims)).toMatchObject({
      status: 400,
      body: { error: { param } },
    });
  });

  it('refuses an unknown workspace, a wrong token, a missing client_message_id', async () => {
    expect((await startSession({ workspace: 'nobody' })).status).toBe(404);
    const message = { text: 'x', client_message_id: '1' };
    const wrong = apiClient(service.url, 'cst_wrong');
    expect((await wrong.post('/api/chat/messages', message)).status).toBe(401);
    const customer = await chatCustomer(service.url);
    expect(await customer.api.post('/api/chat/messages', { text: 'x' })).toMatchObject({
      status: 400,
      body: { error: { param: 'client_message_id' } },
    });
  });

  it('pages through messages over several conversations, oldest first', async () => {
    const customer = await chatCustomer(service.url);
    for (let n = 1; n <= 5; n++) {
      const { conversation_id } = await customer.write(`m${n}`);
      if (n % 2 === 0) await close(conversation_id);
    }
    const messages = await readWholeChat(customer.api, 2);
    expect(messages.map(({ text }) => text)).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
  });

  describe('stream', () => {
    it('sends what is there and then what comes, in order, and resumes after Last-Event-ID', async () => {
      const customer = await chatCustomer(service.url);
      const { conversation_id } = await customer.write('before');
      const stream = await readChatStream(service.url, customer.token);
      expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
      await waitFor('the first', () => stream.seen.length === 1);
      await reply(conversation_id, 'an answer');
      await customer.write('a question');
      await waitFor('three', () => stream.seen.length === 3);
      expect(stream.seen.map(({ text }) => text)).toEqual(['before', 'an answer', 'a question']);
      stream.close();
      await stream.ended;

      await reply(conversation_id, 'while away');
      const resumed = await readChatStream(service.url, customer.token, {
        lastEventId: stream.seen[1]!.id,
      });
      await waitFor('what was missed', () => resumed.seen.length === 2);
      expect(resumed.seen.map(({ text }) => text)).toEqual(['a question', 'while away']);
      resumed.close();
      await resumed.ended;
    });

    it('shows nothing of others, and needs a token', async () => {
      const [one, two] = [await chatCustomer(service.url), await chatCustomer(service.url)];
      const stream = await readChatStream(service.url, one.token, {
        lastEventId: (await two.write('theirs')).message_id,
      });
      await two.write('theirs again');
      await one.write('mine');
      await waitFor('mine', () => stream.seen.length > 0);
      expect(stream.seen.map(({ text }) => text)).toEqual(['mine']);
      stream.close();
      expect((await readChatStream(service.url, 'cst_wrong')).response.status).toBe(401);
    });
  });
});
