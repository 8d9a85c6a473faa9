// What happens at one process holds at the other: who is let in, and what an open page shows, also
// when the notification was missed.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient } from '../../helpers/apiClient.ts';
import {
  browserless,
  MEMBER_ENV,
  signedInBrowser,
  type Browserless,
} from '../../helpers/browserless.ts';
import { readChatStream, type ChatStreamReader } from '../../helpers/chatStreamReader.ts';
import { startCluster, type Cluster } from '../../helpers/cluster.ts';
import { BEN, teamOfTwo } from '../../helpers/teamOfTwo.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { accepts, OWNER, startWorkflowServer } from '../../service/agent/webhook/workflowStage.ts';
import { allowSlowStarts, apisOf, rounds, visitor } from './race.ts';

allowSlowStarts();

/** What an open page is told. */
interface Live {
  readonly heard: readonly string[];
  forget(): void;
  close(): void;
}

async function openLive(url: string, cookie: string): Promise<Live> {
  const abort = new AbortController();
  const response = await fetch(`${url}/live`, {
    headers: { cookie },
    signal: abort.signal,
  });
  if (response.status !== 200) throw new Error(`no live stream: ${response.status}`);
  const heard: string[] = [];
  const read = async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream()))
      heard.push(...[...chunk.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name!));
  };
  read().catch(() => {});
  return { heard, forget: () => void heard.splice(0), close: () => abort.abort() };
}

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster(['api', 'api', 'worker'], {
    env: { ...MEMBER_ENV, AGENT_QUIET_MS: '0', INSECURE_TARGETS: 'true' },
  });
});
afterAll(() => cluster?.stop());
const [first, second] = [() => apisOf(cluster)[0]!, () => apisOf(cluster)[1]!];

describe('who signs in at one of two API processes', () => {
  /** The status with which a process answers a browser that signed in at another process. */
  const statusAt = (url: string, { cookie }: Browserless) =>
    fetch(`${url}/account`, { headers: { cookie }, redirect: 'manual' }).then(
      ({ status }) => status,
    );

  it('may send to one process a form that the other has shown', async () => {
    const browser = await signedInBrowser(first().url);
    const page = await browser.get('/keys');
    const answer = await fetch(`${second().url}/keys`, {
      method: 'POST',
      headers: { cookie: browser.cookie },
      body: new URLSearchParams({ csrf: page.value('csrf')!, name: 'From the other' }),
    });
    expect([answer.status, await answer.text()]).toEqual([
      201,
      expect.stringContaining('cs_live_'),
    ]);
  });

  it('is let in by the other, until the session is ended at one of them', async () => {
    const one = await signedInBrowser(first().url);
    const elsewhere = await signedInBrowser(second().url);
    expect([await statusAt(second().url, one), await statusAt(first().url, elsewhere)]).toEqual([
      200, 200,
    ]);
    await one.post('/sign-out');
    expect([await statusAt(second().url, one), await statusAt(first().url, elsewhere)]).toEqual([
      303, 200,
    ]);
    await elsewhere.post('/sign-out-everywhere');
    expect(await statusAt(first().url, elsewhere)).toBe(303);
  });

  it('is let in by neither once removed at one', async () => {
    const ana = await signedInBrowser(first().url);
    await ana.get('/team');
    const token = /join\?token=([\w-]+)/.exec(
      (await ana.post('/team/invites', { note: 'Bob', role: 'owner' })).html,
    )![1]!;
    const bob = browserless(second().url);
    await bob.post('/join', {
      token,
      name: 'Bob',
      email: 'bob@example.com',
      password: 'another long password',
    });
    expect(await statusAt(first().url, bob)).toBe(200);
    const id = /\/team\/members\/(mbr_\w+)\/remove"[^>]*>(?:(?!<\/form>).)*Remove Bob/s.exec(
      (await ana.get('/team')).html,
    )![1]!;
    await ana.post(`/team/members/${id}/remove`);
    for (const { url } of [first(), second()]) expect(await statusAt(url, bob)).toBe(303);
  });

  it('revokes a key at one, and both refuse it', async () => {
    const ana = await signedInBrowser(first().url);
    await ana.get('/keys');
    const key = /cs_live_\w{32}/.exec((await ana.post('/keys', { name: 'Short-lived' })).html)![0];
    const statuses = () =>
      Promise.all(
        [first(), second()].map(({ url }) =>
          apiClient(url, key)
            .get('/api/hooks/events')
            .then(({ status }) => status),
        ),
      );
    expect(await statuses()).toEqual([200, 200]);
    const { html } = await ana.get('/keys');
    await ana.post(/action="(\/keys\/key_\w+\/revoke)"[^>]*“Short-lived”/.exec(html)![1]!);
    expect(await statuses()).toEqual([401, 401]);
  });
});

describe('a page that is open at one of two API processes', () => {
  const open: (Live | ChatStreamReader)[] = [];
  afterAll(() => {
    for (const each of open) each.close();
  });
  const kept = <T extends Live | ChatStreamReader>(stream: T): T => {
    open.push(stream);
    return stream;
  };

  it('shows a customer what the team writes at the other, each message once and in order', async () => {
    const customer = await visitor(cluster);
    const stream = kept(await readChatStream(first().url, customer.token));
    const { body } = await customer.write(second(), 'hello');
    const texts = rounds(9).map((n) => `answer ${n}`);
    for (const text of texts)
      await second().api.post(`/api/conversations/${body.conversation_id}/messages`, { text });
    await waitFor('all messages', () => stream.seen.length >= 10);
    expect(stream.seen.map(({ text }) => text)).toEqual(['hello', ...texts]);
  });

  it('tells the team of what a customer writes at the other', async () => {
    const ana = await signedInBrowser(first().url);
    const customer = await visitor(cluster);
    const live = kept(await openLive(first().url, ana.cookie));
    const { body } = await customer.write(second(), 'hello');
    await waitFor('list and thread to be told', () =>
      ['conversations', 'thread'].every((event) => live.heard.includes(event)),
    );
    live.forget();
    await customer.write(second(), 'and more');
    await waitFor('the thread to be told', () => live.heard.includes('thread'));
    expect((await ana.get(`/conversations/${body.conversation_id}`)).text).toContain('and more');
  });

  it('shows a customer typing while a worker runs a workflow’s turn, until the turn is ended at the other', async () => {
    const workflow = await startWorkflowServer();
    workflow.answer(accepts);
    const { api } = second();
    await api.put('/api/agent/webhook', { endpoint: workflow.url, owner: OWNER, turn_on: true });
    const customer = await visitor(cluster);
    const stream = kept(await readChatStream(first().url, customer.token));
    await customer.write(second(), 'hello');
    const { body } = await workflow.turn();
    await waitFor('the chat to show it', () => stream.told.at(-1) === 'typing');
    await api.post(`/api/agent-turns/${body.turn_id}/end`, {});
    await waitFor('the chat to show the end', () => stream.told.at(-1) === 'not typing');
    // Only the first three: on a busy machine, the chat may be told the same once more.
    expect(stream.told.slice(0, 3)).toEqual(['hello', 'typing', 'not typing']);
    await api.patch('/api/agent', { enabled: false });
    await workflow.close();
  });

  it('shows which member looks or writes at the other', async () => {
    const { ana, ben } = await teamOfTwo(first());
    const elsewhere = await signedInBrowser(second().url, BEN);
    const customer = await visitor(cluster);
    const { body } = await customer.write(first(), 'hello');
    const path = `/conversations/${body.conversation_id}/presence`;
    const live = kept(await openLive(first().url, ana.cookie));
    await elsewhere.get('/team');
    await elsewhere.post(path, { doing: 'writing' });
    await waitFor('the page to be told', () => live.heard.includes('presence'));
    expect((await ana.get(path)).text).toContain('Ben is writing…');
    live.forget();
    await elsewhere.post(path, { doing: 'left' });
    await waitFor('the page to be told', () => live.heard.includes('presence'));
    expect((await ana.get(path)).text).toBe('');
    expect((await ben.get(path)).text).toBe('');
  });

  it("tells the team of a workflow's question at the other", async () => {
    const ana = await signedInBrowser(first().url);
    const live = kept(await openLive(first().url, ana.cookie));
    await second().api.post('/api/waits', {
      kind: 'decision',
      message: 'Publish it?',
      resume_url: 'https://127.0.0.1:9/webhook-waiting/1',
    });
    await waitFor('the page to be told', () => live.heard.includes('waiting'));
    expect((await ana.get('/waiting/count')).html).toBe('1');
  });

  it('catches up with what came while the connection that listens was cut', async () => {
    const ana = await signedInBrowser(first().url);
    const live = kept(await openLive(first().url, ana.cookie));
    const customer = await visitor(cluster);
    const stream = kept(await readChatStream(first().url, customer.token));
    const expected: string[] = [];
    for (const round of rounds(3)) {
      live.forget();
      const cut = cluster.cutConnections(0, 'listening');
      const text = `message ${round}`;
      expected.push(text);
      await customer.at(second()).post('/api/chat/messages', { text, client_message_id: text });
      if (round === 0) expect(await cut).toBe(1); // later cuts may come before it is open again
      await cut;
      await waitFor(`the chat to show ${text}`, () => stream.seen.length >= expected.length);
      await waitFor('the list to be told', () => live.heard.includes('conversations'));
    }
    expect(stream.seen.map(({ text }) => text)).toEqual(expected);
  });

  it('goes on when every connection of its process is cut', async () => {
    const customer = await visitor(cluster);
    const stream = kept(await readChatStream(first().url, customer.token));
    const expected: string[] = [];
    for (const round of rounds(2)) {
      expect(await cluster.cutConnections(0)).toBeGreaterThan(0);
      const text = `after ${round}`;
      expected.push(text);
      await customer.at(second()).post('/api/chat/messages', { text, client_message_id: text });
      await waitFor(`the chat to show ${text}`, () => stream.seen.length >= expected.length);
    }
    expect(stream.seen.map(({ text }) => text)).toEqual(expected);
  });

  // Last: the process stays dead.
  it('goes on at the other when its process is killed', async () => {
    const customer = await visitor(cluster);
    const broken = kept(await readChatStream(first().url, customer.token));
    await customer.write(second(), 'before');
    await waitFor('the message', () => broken.seen.length === 1);
    await cluster.kill(0);
    expect(await broken.ended).toBe(false);
    await customer.write(second(), 'after');
    const again = kept(
      await readChatStream(second().url, customer.token, { lastEventId: broken.seen[0]!.id }),
    );
    await waitFor('the change made in between', () => again.seen.length === 1);
    expect(again.seen.map(({ text }) => text)).toEqual(['after']);
  });
});
