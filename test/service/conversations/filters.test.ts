// Which conversations GET /api/conversations lists, and which messages GET …/messages.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';

const START = Date.parse('2026-11-21T10:00:00Z');
const at = (minute: number) => new Date(START + minute * 60_000).toISOString();

describe('the list of conversations', () => {
  let service: TestService;
  let minute = 0;
  const customers: ChatCustomer[] = [];
  const ids: string[] = [];

  /** Conversations 0 to 5 are opened a minute apart; 1 and 3 change later, and 6 follows 1. */
  beforeAll(async () => {
    service = await startTestService({ clock: { now: () => new Date(START + minute * 60_000) } });
    for (minute = 0; minute < 6; minute++) {
      const name = minute % 2 === 0 ? `Ana ${minute}` : `Müller ${minute}`;
      const claims = { name, email: `person${minute}@example.com`, phone: '+54 9 11 5555 0134' };
      customers.push(await chatCustomer(service.url, claims));
      ids.push((await customers[minute]!.write('hello')).conversation_id);
    }
    minute = 10;
    await customers[3]!.write('again');
    minute = 11;
    await service.api.post(`/api/conversations/${ids[1]}/close`, {
      summary: 'Done.',
      verdict: 'unknown',
    });
    minute = 12;
    ids.push((await customers[1]!.write('back again')).conversation_id);
  });
  afterAll(() => service?.stop());

  const listed = async (query: Record<string, string>) => {
    const pages: number[][] = [];
    for (let cursor: string | null = null; ; ) {
      const asked = new URLSearchParams({ ...query, ...(cursor === null ? {} : { cursor }) });
      const { status, body } = await service.api.get(`/api/conversations?${asked}`);
      expect(status).toBe(200);
      pages.push(body.data.map(({ id }: { id: string }) => ids.indexOf(id)));
      cursor = body.next_cursor;
      if (cursor === null) return pages;
    }
  };

  it.each([
    [{}, [6, 5, 4, 3, 2, 1, 0]],
    [{ created_since: at(4) }, [6, 5, 4]],
    [{ created_before: at(2) }, [1, 0]],
    [{ created_since: at(1), created_before: at(4) }, [3, 2, 1]],
    [{ updated_since: at(5) }, [6, 1, 3, 5]],
    [{ updated_since: at(5), created_before: at(4) }, [1, 3]],
    [{ updated_since: at(5), created_since: at(5) }, [6, 5]],
    [{ updated_since: at(5), status: 'closed' }, [1]],
    [{ created_since: at(0), status: 'ai_active', channel: 'web_chat' }, [6, 5, 4, 3, 2, 0]],
    [{ funnel_stage: 'engaged' }, [3]],
    [{ status: 'closed' }, [1]],
    [{ status: 'ai_active', funnel_stage: 'engaged', channel: 'web_chat' }, [3]],
    [{ channel: 'whatsapp_cloud' }, []],
    [{ q: 'muller' }, [6, 5, 3, 1]],
    [{ q: 'muller', created_before: at(5) }, [3, 1]],
    [{ q: 'person1@example.com' }, [6, 1]],
    [{ q: 'person1@example.com', status: 'closed' }, [1]],
    [{ q: '+5491155550134', updated_since: at(10) }, [6, 1, 3]],
    [{ q: '+54•••••••••34', created_since: at(5) }, [6, 5]],
    [{ q: 'nobody' }, []],
  ])('%j', async (query, expected) => {
    expect((await listed(query)).flat()).toEqual(expected);
    // Page by page, the same.
    const pages = await listed({ ...query, limit: '2' });
    expect(pages.flat()).toEqual(expected);
    expect(pages.slice(0, -1).every((page) => page.length === 2)).toBe(true);
  });

  it("holds a contact's conversations alone, by the contact's id", async () => {
    const { body } = await service.api.get(`/api/conversations/${ids[1]}`);
    expect((await listed({ contact_id: body.contact.id })).flat()).toEqual([6, 1]);
    const narrowed = { contact_id: body.contact.id, created_since: at(12), q: 'müll' };
    expect((await listed(narrowed)).flat()).toEqual([6]);
    expect((await listed({ contact_id: 'ctc_nobody' })).flat()).toEqual([]);
  });

  it('refuses an invalid value, and a cursor of another order', async () => {
    const first = (await service.api.get('/api/conversations?limit=1')).body.next_cursor as string;
    for (const [query, param] of [
      ['status=open', 'status'],
      ['funnel_stage=x', 'funnel_stage'],
      ['limit=0', 'limit'],
      ['limit=201', 'limit'],
      ['created_since=today', 'created_since'],
      ['cursor=x', 'cursor'],
      [`updated_since=${at(0)}&cursor=${first}`, 'cursor'],
      [`cursor=1_${first}`, 'cursor'],
    ])
      expect(await service.api.get(`/api/conversations?${query}`)).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_request', param } },
      });
  });

  it("a conversation's messages, oldest first, since a time, and page by page", async () => {
    const path = `/api/conversations/${ids[3]}/messages`;
    const page = async (query = '') => {
      const { body } = await service.api.get(path + query);
      return [body.data.map(({ text }: { text: string }) => text), body.next_cursor];
    };
    const both = ['hello', 'again'];
    expect(await page()).toEqual([both, null]);
    expect(await page(`?since=${at(3)}`)).toEqual([both, null]);
    expect(await page(`?since=${at(4)}`)).toEqual([['again'], null]);
    expect(await page('?since=2026-11-21T13:10:00.000%2B03:00')).toEqual([['again'], null]);
    expect(await page('?since=2026-11-21T10:10:00.001Z')).toEqual([[], null]);
    const [first, cursor] = await page(`?since=${at(3)}&limit=1`);
    expect(first).toEqual(['hello']);
    expect(await page(`?since=${at(3)}&cursor=${cursor}`)).toEqual([['again'], null]);
    for (const query of ['since=yesterday', 'cursor=msg_01JD6Z0000000000000000000A'])
      expect((await service.api.get(`${path}?${query}`)).status).toBe(400);
    const unknown = '/api/conversations/conv_00000000000000000000000000/messages';
    expect((await service.api.get(unknown)).status).toBe(404);
  });
});
