import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { testDatabaseUrl } from '../../helpers/storage.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { MovingStage, recordsOf, succeeded, type DataPlace } from './movingStage.ts';

const KEY = `cs_live_${'M'.repeat(32)}`;
const HOUR_MS = 3_600_000;
const TIMEOUT_MS = 120_000;

type Kind = 'folder' | 'database';
const ROUTES: readonly (readonly Kind[])[] = [
  ['folder', 'folder'],
  ...(testDatabaseUrl() === null ? [] : [['folder', 'database', 'folder'] as const]),
];

describe('moving a service', () => {
  let stage: MovingStage;
  let tls: TlsFiles;
  let receiver: EventReceiver;
  let answer: (response: ServerResponse) => void;
  beforeEach(async () => {
    stage = await MovingStage.open();
    tls = await writeTlsFiles(await sharedTestCa());
    answer = (response) => void response.end('ok');
    receiver = await startEventReceiver((_request, response) => answer(response));
  });
  afterEach(async () => {
    await stage.close();
    await receiver.close();
    await tls.remove();
  });

  const start = (place: DataPlace) =>
    stage.start(place, {
      ...MEMBER_ENV,
      NODE_EXTRA_CA_CERTS: tls.caFile,
      BOOTSTRAP_API_KEY: KEY,
      BOOTSTRAP_WORKSPACE: 'Shop',
      DELIVERY_RETRY_DELAYS_MS: `${HOUR_MS},${HOUR_MS},${HOUR_MS}`,
    });
  const nextPlace = async (kind: Kind, from: DataPlace): Promise<DataPlace> => {
    const key = from.env['ENCRYPTION_KEY'] ?? (await stage.keyOf(from));
    return kind === 'folder' ? stage.folderPlace(key) : stage.databasePlace(key);
  };
  const textsSeen = () =>
    receiver.payloads('message.received').map((payload) => payload.message.text as string);
  const idsOf = (text: string) => [
    ...new Set(
      receiver
        .payloads('message.received')
        .filter((payload) => payload.message.text === text)
        .map((payload) => payload.id as string),
    ),
  ];

  it.each(ROUTES.map((route) => [route.join(' to '), route] as const))(
    'from %s: the n8n side notices nothing',
    async (_name, route) => {
      const api = apiClient(stage.url, KEY);
      let place = stage.folderPlace();
      await start(place);
      const subscription = await receiver.subscribe({ api }, 'message.received');
      const customer = await chatCustomer(stage.url, { name: 'Kim' });

      // One event delivered, one that waits for its retry, one in the middle of its attempt.
      const { conversation_id: conversation } = await customer.write('delivered');
      await waitFor('the first event', () => textsSeen().includes('delivered'));
      await waitFor('the record of its delivery', async () =>
        (await deliveries(api, subscription.id)).some(({ status }) => status === 'delivered'),
      );
      answer = (response) => void response.writeHead(503).end();
      await customer.write('waits');
      const waiting = await waitFor('the retry to wait', async () =>
        (await deliveries(api, subscription.id)).find(
          ({ next_attempt_at: at, attempts }) => at !== null && attempts.length === 1,
        ),
      );
      answer = () => {}; // no answer at all
      await customer.write('under way');
      await waitFor('the attempt', () => textsSeen().includes('under way'));
      const idempotent = { 'Idempotency-Key': randomUUID() };
      const writeOnce = () =>
        api.post(
          `/api/conversations/${conversation}/messages`,
          { text: 'a person writes' },
          idempotent,
        );
      const handedOver = await writeOnce();
      expect(handedOver.status).toBe(201);
      const browser = await signedInBrowser(stage.url);
      const shown = async () => ({
        // except for the time of the last delivery, which moves on
        hooks: (await api.get('/api/hooks')).body.data.map(
          ({ last_delivery_at: _last, ...hook }: Record<string, unknown>) => hook,
        ),
        conversation: (await api.get(`/api/conversations/${conversation}?messages=200`)).body,
        agent: (await api.get('/api/agent')).body,
        waiting: (await api.get(`/api/hooks/${subscription.id}/deliveries`)).body.data.find(
          ({ id }: Shown) => id === waiting.id,
        ),
        chat: await customer.read(),
      });
      const before = await shown();
      const moved = [receiver.payloads().length];
      await stage.stop('killed');
      answer = (response) => void response.end('ok');

      for (const kind of route.slice(1)) {
        const [from, file] = [place, join(stage.folder, `export-${moved.length}.ndjson`)];
        const exported = await stage.command(from, ['export', '--to', file]);
        succeeded(exported);
        expect((await stat(file)).mode & 0o777).toBe(0o600);
        place = await nextPlace(kind, from);
        const imported = await stage.command(place, ['import', '--from', file]);
        succeeded(imported);
        // The same counts and the same checksum on both sides.
        expect(countsOf(imported.out)).toEqual(countsOf(exported.out));
        expect(countsOf(imported.out)).toMatch(
          /\n {2}subscriptions +1\n[^]*\n {2}sha256 +[0-9a-f]{64}$/,
        );
        const again = await stage.command(place, ['export', '--to', '-']);
        expect(recordsOf(again.out)).toEqual(recordsOf(await readFile(file, 'utf8')));
        // The place that it came from still holds everything.
        expect(recordsOf((await stage.command(from, ['export', '--to', '-'])).out)).toEqual(
          recordsOf(again.out),
        );
        moved.push(receiver.payloads().length);
      }
      expect(new Set(moved).size).toBe(1);

      await start(place);
      // What was under way comes at once, with the same id and signed with the same secret. What waited
      // goes on waiting.
      await waitFor(
        'the event that was under way',
        () => textsSeen().filter((text) => text === 'under way').length === 2,
      );
      expect(idsOf('under way')).toHaveLength(1);
      expect(await shown()).toEqual(before);
      expect(await writeOnce()).toMatchObject({ status: 201, body: handedOver.body });
      const page = await browser.get('/conversations');
      expect([page.status, page.path]).toEqual([200, '/conversations']);
      // It goes on: a new event is sent, and the subscription is still known.
      await customer.write('after');
      await waitFor('a new event', () => textsSeen().includes('after'));
      const hook = { event: 'message.received', target_url: `${receiver.url}/events` };
      expect((await api.post('/api/hooks', hook)).body.error.code).toBe('subscription_exists');
      await waitFor(
        'all to be recorded',
        async () =>
          (await deliveries(api, subscription.id)).filter(({ status }) => status === 'delivered')
            .length === 3,
      );
      expect(textsSeen().filter((text) => text === 'delivered')).toHaveLength(1);
      expect(textsSeen().filter((text) => text === 'waits')).toHaveLength(1);
      expect(receiver.faults).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly next_attempt_at: string | null;
  readonly attempts: readonly unknown[];
}

const deliveries = async (
  api: ReturnType<typeof apiClient>,
  subscription: string,
): Promise<readonly Shown[]> => (await api.get(`/api/hooks/${subscription}/deliveries`)).body.data;

/** The counts that a command prints, a line each, with a line feed before the first. */
const countsOf = (out: string): string => /:(\n(?: {2}.*\n)+)/.exec(out)![1]!.trimEnd();
