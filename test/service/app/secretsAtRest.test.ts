import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../service/src/app/config.ts';
import { startService } from '../../../service/src/app/service.ts';
import { browserless, MEMBER_ENV } from '../../helpers/browserless.ts';
import {
  LLM_KEY,
  readableIn,
  spellingsOf,
  useEverySecret,
  type Secret,
} from '../../helpers/everySecret.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { eachFile, textOfFolder } from '../../helpers/folderFiles.ts';
import { onEmbeddedStore } from '../../helpers/onEmbeddedStore.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { startToolEndpoint, TOOL_TEST_ENV, type ToolEndpoint } from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const KEY = randomBytes(32);
/** Texts that are stored as they are: a search that does not find them would find no secret. */
const KEPT = ['check stock, please', 'Transfer to DE00', 'find_order', 'ana@example.com'];

describe('secrets in what is stored', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let endpoint: ToolEndpoint;
  let model: Server;
  let secrets: Secret[];

  beforeAll(async () => {
    // Receiver, endpoint and model each answer with what they were sent.
    receiver = await startEventReceiver(
      (request, response) => void response.end(JSON.stringify(request.headers)),
    );
    endpoint = await startToolEndpoint();
    model = createServer((request, response) => {
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: `refused: ${request.headers.authorization}` } }));
    }).listen(0, '127.0.0.1');
    await waitFor('the model', () => model.listening);
    const nowhere = 'http://127.0.0.1:9';
    service = await startTestService({
      ca: receiver.ca,
      // Snapshots all the time, so that old ones and old journals lie there too.
      store: { snapshotAfterBytes: 4000 },
      env: {
        ...MEMBER_ENV,
        ...TOOL_TEST_ENV,
        ENCRYPTION_KEY: KEY.toString('base64'),
        LLM_BASE_URL: `http://127.0.0.1:${(model.address() as { port: number }).port}`,
        LLM_MODEL: 'none',
        LLM_API_KEY: LLM_KEY,
        GRAPH_API_URL: nowhere,
        STRIPE_API_URL: nowhere,
      },
    });
    secrets = [
      ...(await useEverySecret(service, receiver, endpoint)),
      { what: 'the encryption key', value: KEY.toString('base64') },
      { what: 'the bytes of the encryption key', value: KEY.toString('latin1') },
    ];
  });
  afterAll(async () => {
    await service?.stop();
    await receiver?.close();
    await endpoint?.close();
    model?.close();
  });

  it('are all long enough to look for, and the search finds each spelling', async () => {
    expect(secrets.length).toBeGreaterThan(20);
    for (const { what, value } of secrets) expect([what, value.length >= 12]).toEqual([what, true]);
    const [{ value }] = secrets as [Secret];
    const folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
    try {
      const spelled = [
        value,
        `x${value}y`,
        JSON.stringify({ value }),
        encodeURIComponent(value),
        ...['', 'a', 'ab', 'abc'].map((before) =>
          Buffer.from(`${before}${value}after`).toString('base64'),
        ),
        Buffer.from(value).toString('hex'),
      ];
      for (const [index, text] of spelled.entries())
        await writeFile(join(folder, String(index)), `before ${text} behind`);
      expect(await readableIn(folder, secrets.slice(0, 1))).toHaveLength(spelled.length);
    } finally {
      await rm(folder, { recursive: true });
    }
    expect(spellingsOf('whsec_AAECAwQFBgcICQoLDA0ODw==')).toContain(
      '\0\x01\x02\x03\x04\x05\x06\x07\b\t\n\v\f\r\x0e\x0f',
    );
  });

  it('stand nowhere in it', async () => {
    const stored = await service.stored();
    for (const kept of KEPT) expect([kept, stored.includes(kept)]).toEqual([kept, true]);
    const texts = [stored, Buffer.from(stored).toString('latin1')];
    const isReadable = (spelling: string) => texts.some((text) => text.includes(spelling));
    const readable = secrets.filter(({ value }) => spellingsOf(value).some(isReadable));
    expect(readable.map(({ what }) => what)).toEqual([]);
  });

  onEmbeddedStore(it)(
    'stand in no file of the data folder, journals and snapshots old and new included',
    async () => {
      await waitFor('a snapshot and two journals', async () => {
        const names = await readdir(service.folder);
        const count = (prefix: string) => names.filter((name) => name.startsWith(prefix)).length;
        return count('snapshot-') > 0 && count('journal-') > 1;
      });
      const all = await textOfFolder(service.folder);
      for (const kept of KEPT) expect([kept, all.includes(kept)]).toEqual([kept, true]);
      expect(await readableIn(service.folder, secrets)).toEqual([]);
      await service.restart();
      expect(await readableIn(service.folder, secrets)).toEqual([]);
      // What was sealed still opens.
      const [conversation] = (await service.api.get('/api/conversations')).body.data;
      const link = await service.api.post(
        `/api/conversations/${conversation.id}/payment-links`,
        { amount: 4900, currency: 'usd', description: 'Demo', provider: 'manual' },
        { 'idempotency-key': 'once' },
      );
      const { pathname } = new URL(link.body.url);
      expect((await fetch(service.url + pathname)).status).toBe(200);
      expect(secrets.map(({ value }) => value)).toContain(pathname.split('/').at(-1));
    },
  );

  onEmbeddedStore(it)('are in files that no other user of the machine may read', async () => {
    const readable = await eachFile(service.folder, async (path, name) =>
      ((await stat(path)).mode & 0o077) === 0 ? [] : [name],
    );
    expect(readable.flat()).toEqual([]);
  });
});

onEmbeddedStore(describe)('the first start by the one-time link', () => {
  it('leaves neither the link, nor the password, nor the first key, nor the session in the folder', async () => {
    const service = await startTestService({
      env: { BOOTSTRAP_API_KEY: undefined, BOOTSTRAP_WORKSPACE: undefined },
    });
    try {
      const token = new URL(service.setupUrl!).searchParams.get('token')!;
      const browser = browserless(service.url);
      const { html } = await browser.post('/setup', {
        token,
        workspace: 'Acme',
        name: 'Ana',
        email: 'ana@example.com',
        password: 'correct horse battery',
      });
      const secrets = [
        { what: "the link's token", value: token },
        { what: 'the password', value: 'correct horse battery' },
        { what: 'the first key', value: /cs_live_[0-9A-Za-z]{32}/.exec(html)![0] },
        { what: 'the session', value: browser.cookie.replace(/^.*cs_session=/, '') },
        {
          what: 'the encryption key',
          value: (await readFile(join(service.folder, 'encryption.key'), 'utf8')).trim(),
        },
      ];
      for (const { value } of secrets) expect(value.length).toBeGreaterThan(20);
      expect(await readableIn(service.folder, secrets, ['encryption.key'])).toEqual([]);
      expect((await stat(join(service.folder, 'encryption.key'))).mode & 0o777).toBe(0o600);
    } finally {
      await service.stop();
    }
  });
});

onEmbeddedStore(describe)('a start with a key that does not fit', () => {
  let folder: string;
  const start = async (env: Record<string, string> = {}) => {
    const service = await startService(
      readConfig({
        PORT: '0',
        DATA_DIR: folder,
        LOG_LEVEL: 'silent',
        BOOTSTRAP_WORKSPACE: 'Test',
        ...env,
      }),
    );
    await service.stop();
  };
  const keyFile = () => join(folder, 'encryption.key');
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
    await start();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is refused in one line that says what to do, and a start with the right key works again', async () => {
    const right = await readFile(keyFile(), 'utf8');
    const refused: [string, string, RegExp][] = [
      [
        'another key',
        `${randomBytes(32).toString('base64')}\n`,
        /^The encryption key is not the one that this data was written with\. Give that key/,
      ],
      [
        'a key that was cut',
        right.slice(0, 20),
        /encryption\.key is damaged: it must hold 32 bytes in base64 or hex\. Restore a copy/,
      ],
      ['an empty file', '', /encryption\.key is damaged/],
      ['a key with one letter too many', `A${right}`, /encryption\.key is damaged/],
      ['a file of NULs', '\0'.repeat(45), /encryption\.key is damaged/],
      ['no text at all', randomBytes(32).toString('latin1'), /encryption\.key is damaged/],
    ];
    for (const [what, content, message] of refused) {
      await writeFile(keyFile(), content);
      const error = await start().then(
        () => new Error('it started'),
        (caught: Error) => caught,
      );
      expect([what, error.message]).toEqual([what, expect.stringMatching(message)]);
      expect(error.message).not.toContain('\n');
    }
    await rm(keyFile());
    await expect(start()).rejects.toThrow(
      /^encryption\.key is missing from .*, and the data there was written with it\. Put it back/,
    );
    expect(await readdir(folder)).not.toContain('encryption.key');
    await expect(start({ ENCRYPTION_KEY: randomBytes(32).toString('hex') })).rejects.toThrow(
      'is not the one that this data was written with',
    );
    await start({ ENCRYPTION_KEY: right.trim() });
    await writeFile(keyFile(), Buffer.from(right, 'base64').toString('hex'));
    await start();
  });

  (process.getuid?.() === 0 ? it.skip : it)(
    'is refused when the key file may not be read',
    async () => {
      await chmod(keyFile(), 0);
      await expect(start()).rejects.toThrow(
        /encryption\.key cannot be read \(EACCES\): let the user that runs the service read it/,
      );
    },
  );

  it('is refused when the key file is a folder', async () => {
    await rm(keyFile());
    await mkdir(keyFile());
    await expect(start()).rejects.toThrow(/encryption\.key cannot be read \(EISDIR\)/);
  });
});
