// Messages of a conversation since a time, and notes for the team.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';

describe('the messages of a conversation', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let now = Date.parse('2026-11-21T10:00:00Z');
  beforeAll(async () => {
    receiver = await startEventReceiver();
    service = await startTestService({ ca: receiver.ca, clock: { now: () => new Date(now) } });
  });
  afterAll(async () => {
    await service?.stop();
    await receiver?.close();
  });

  const textsAt = async (path: string) => {
    const { status, body } = await service.api.get(path);
    expect(status).toBe(200);
    return {
      texts: body.data.map(({ text }: { text: string }) => text),
      cursor: body.next_cursor as string | null,
    };
  };

  it('are listed oldest first, since a time, and page by page', async () => {
    const customer = await chatCustomer(service.url);
    const { conversation_id: id } = await customer.write('1');
    for (const text of ['2', '3', '4', '5']) {
      now += 60_000;
      await customer.write(text);
    }
    const path = `/api/conversations/${id}/messages`;
    expect((await textsAt(path)).texts).toEqual(['1', '2', '3', '4', '5']);
    expect((await textsAt(`${path}?since=2026-11-21T10:03:00Z`)).texts).toEqual(['4', '5']);
    expect((await textsAt(`${path}?since=2026-11-21T13:02:30.000+03:00`)).texts).toEqual([
      '4',
      '5',
    ]);
    expect((await textsAt(`${path}?since=2026-11-21T10:04:00.001Z`)).texts).toEqual([]);
    const first = await textsAt(`${path}?since=2026-11-21T10:01:00Z&limit=3`);
    expect(first.texts).toEqual(['2', '3', '4']);
    expect(await textsAt(`${path}?since=2026-11-21T10:01:00Z&cursor=${first.cursor}`)).toEqual({
      texts: ['5'],
      cursor: null,
    });
    for (const query of ['since=yesterday', 'cursor=msg_01JD6Z0000000000000000000A'])
      expect((await service.api.get(`${path}?${query}`)).status).toBe(400);
    const unknown = `/api/conversations/${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}/messages`;
    expect((await service.api.get(unknown)).status).toBe(404);
  });

  it('are not joined by a note for the team: no event, nothing in the chat, masked in the answer', async () => {
    await receiver.subscribe(service, 'message.sent');
    const customer = await chatCustomer(service.url, { email: 'maria@example.com' });
    const { conversation_id: id } = await customer.write('hello');
    const path = `/api/conversations/${id}`;
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
    });
    expect((await textsAt(`${path}/messages`)).texts).toEqual(['hello']);
    await service.api.post(`${path}/messages`, { text: 'A person here.' });
    await receiver.payload('message.sent');
    expect(receiver.payloads().map(({ message }) => message.text)).toEqual(['A person here.']);
    expect((await customer.read()).map(({ text }) => text)).toEqual(['hello', 'A person here.']);

    await service.api.post(`${path}/close`, { summary: 'Done.', verdict: 'unknown' });
    expect((await service.api.post(`${path}/notes`, { text: 'Paid.' })).status).toBe(201);
    expect((await service.api.post(`${path}/notes`, { text: ' ' })).status).toBe(400);
  });
});
