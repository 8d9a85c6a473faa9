import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { testDatabaseUrl } from '../../helpers/storage.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { startCommitProxy } from '../../postgres/outage/commitProxy.ts';
import {
  API_KEY,
  MovingStage,
  otherKey,
  recordsOf,
  refused,
  succeeded,
  type DataPlace,
} from './movingStage.ts';

const TIMEOUT_MS = 120_000;

// `npm run test:postgres` brings a server.
(testDatabaseUrl() === null ? describe.skip : describe)('commands on PostgreSQL', () => {
  let stage: MovingStage;
  beforeEach(async () => {
    stage = await MovingStage.open();
  });
  afterEach(() => stage.close());
  const newKey = () => join(stage.folder, 'new.key');
  const rotate = (place: DataPlace) =>
    stage.command(place, ['rotate-encryption-key', '--new-key-file', newKey()]);

  describe('that import', () => {
    let file: string;
    let whole: Buffer;
    let to: DataPlace;
    const exportedThere = async () =>
      recordsOf((await stage.command(to, ['export', '--to', '-'])).out);
    beforeEach(async () => {
      const place = stage.folderPlace();
      file = await stage.use(place);
      whole = await readFile(file);
      to = stage.databasePlace(await stage.keyOf(place));
      await stage.expectEmpty(to);
    }, TIMEOUT_MS);

    it(
      'leave nothing when they are killed, and then take everything',
      async () => {
        await (await stage.beginImport(to, whole)).kill();
        await waitFor('the server to notice, and nothing to be there', async () =>
          /There is nothing to export/.test((await stage.command(to, ['export', '--to', '-'])).err),
        );
        succeeded(await stage.command(to, ['import', '--from', file]));
        expect(await exportedThere()).toEqual(recordsOf(whole.toString()));
      },
      TIMEOUT_MS,
    );

    it(
      'leave nothing when the connection is cut, and say so',
      async () => {
        const importing = await stage.beginImport(to, whole);
        await stage.cutImport(to);
        refused(
          await importing.end(),
          /the database cannot be reached or written to: |the connection to the database was lost: /,
        );
        await stage.expectEmpty(to);
        succeeded(await stage.command(to, ['import', '--from', file]));
      },
      TIMEOUT_MS,
    );

    it(
      'have the database to themselves: a process started at that time exits at once and says why',
      async () => {
        const importing = await stage.beginImport(to, whole);
        const reserved =
          /Another process has it to itself: its encryption key is being changed, or an export is being imported\. Start this process when that has finished/;
        refused(await stage.command(to, ['key', 'list']), reserved);
        await expect(stage.start(to, {})).rejects.toThrow(reserved);
        refused(
          await stage.command(to, ['import', '--from', file]),
          /One process has it open\. Stop all processes/,
        );
        expect((await importing.end()).code).toBe(0);
        expect(await exportedThere()).toEqual(recordsOf(whole.toString()));
      },
      TIMEOUT_MS,
    );
  });

  it(
    'export the state of one moment while the service runs, and import only where no service was ever started',
    async () => {
      const place = stage.databasePlace(otherKey());
      await stage.startUsed(place);
      const customer = await chatCustomer(stage.url);
      let isOver = false;
      let count = 0;
      const writing = (async () => {
        for (; !isOver; count += 1) await customer.write(`text ${count + 1}`);
      })();
      await waitFor('messages', () => count > 0);
      const file = join(stage.folder, 'running.ndjson');
      succeeded(await stage.command(place, ['export', '--to', file]));
      isOver = true;
      await writing;
      refused(
        await stage.command(place, ['import', '--from', file]),
        /One process has it open\. Stop all processes of the service first, on every machine/,
      );
      await stage.stop();
      refused(
        await stage.command(place, ['import', '--from', file]),
        /is not empty: it holds \w+\. An import needs an empty one, before the first start\. Set DATABASE_SCHEMA to another name/,
      );

      const to = stage.folderPlace(place.env['ENCRYPTION_KEY']);
      succeeded(await stage.command(to, ['import', '--from', file]));
      await stage.startUsed(to);
      const conversations = (await apiClient(stage.url, API_KEY).get('/api/conversations')).body
        .data as { id: string }[];
      expect(conversations).toHaveLength(1);
      for (const { id } of conversations) {
        const { messages } = (
          await apiClient(stage.url, API_KEY).get(`/api/conversations/${id}?messages=200`)
        ).body as { messages: { text: string }[] };
        // The answer holds the newest messages only; `before` counts the older ones.
        const before = Number(messages[0]!.text.slice('text '.length)) - 1;
        expect(messages.map(({ text }) => text)).toEqual(
          messages.map((_, n) => `text ${before + n + 1}`),
        );
        expect(messages).toHaveLength(before === 0 ? messages.length : 200);
      }
    },
    TIMEOUT_MS,
  );

  it(
    'make and revoke keys while the service runs, at once',
    async () => {
      const place = stage.databasePlace(otherKey());
      await stage.startUsed(place);
      const made = await stage.command(place, ['key', 'create', '--name', 'later']);
      expect(made.code).toBe(0);
      const api = apiClient(stage.url, made.out.trim());
      expect((await api.get('/api/hooks')).status).toBe(200);
      const id = /^(key_\w+) .*"later"/m.exec(
        (await stage.command(place, ['key', 'list'])).out,
      )![1]!;
      succeeded(await stage.command(place, ['key', 'revoke', id]));
      expect((await api.get('/api/hooks')).status).toBe(401);
    },
    TIMEOUT_MS,
  );

  it(
    'change the key only when no process runs',
    async () => {
      const place = stage.databasePlace(otherKey());
      await writeFile(newKey(), otherKey());
      await stage.startUsed(place);
      refused(
        await rotate(place),
        /One process has it open\. Stop all processes of the service first, on every machine/,
      );
      expect((await apiClient(stage.url, API_KEY).get('/api/hooks')).status).toBe(200);
      await stage.stop();
      succeeded(await rotate(place));
    },
    TIMEOUT_MS,
  );

  it(
    'change the key while a process is cut off: the process ends once it is back, and has written nothing with the former key',
    async () => {
      const place = stage.databasePlace(otherKey());
      await writeFile(newKey(), otherKey());
      const proxy = await startCommitProxy(place.env['DATABASE_URL']!);
      try {
        await stage.startUsed({ ...place, env: { ...place.env, DATABASE_URL: proxy.url } });
        proxy.setOpen(false);
        await waitFor(
          'the server to miss the process, and the key to be changed',
          async () => (await rotate(place)).code === 0,
        );
        expect(stage.hasEnded ? await stage.log() : 'running').toBe('running');
        proxy.setOpen(true);
        // A request to seal something at this moment is refused.
        const subscribe = () =>
          apiClient(stage.url, API_KEY).post('/api/hooks', {
            event: 'message.received',
            target_url: 'https://127.0.0.1:1/',
            source: 'n8n',
          });
        const statuses = new Set<number | 'network'>();
        await waitFor(
          'the process to end',
          async () => {
            statuses.add(
              await subscribe().then(
                ({ status }) => status,
                () => 'network' as const,
              ),
            );
            return stage.hasEnded;
          },
          { everyMs: 1 },
        );
        expect([...statuses].filter((status) => status !== 503 && status !== 'network')).toEqual(
          [],
        );
        expect(await stage.log()).toMatch(
          /^conversation-service: Everything in the database was sealed with another key while this process was cut off from it\. Start it again, with the new key\.$/m,
        );
        await stage.stop();
      } finally {
        await proxy.close();
      }
      await expect(stage.start(place, {})).rejects.toThrow(
        /The encryption key is not the one that this data was written with/,
      );
      // The next change of the key opens everything, with the key that this one has set.
      const changed = {
        ...place,
        env: { ...place.env, ENCRYPTION_KEY: (await readFile(newKey(), 'utf8')).trim() },
      };
      await writeFile(newKey(), otherKey());
      succeeded(await rotate(changed));
    },
    TIMEOUT_MS,
  );
});
