// docs/channels.md shows a third channel as one file and one registration: exactly that text is put
// in its place, type-checked as the service is, and used by a customer and a team.
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { readJson, respondJson } from '../../helpers/jsonServer.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { listenTracked, type TrackedServer } from '../../helpers/trackedServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const BOT_TOKEN = '123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11';
const CHAT = { id: 777, type: 'private', first_name: 'Nadia' };

interface BotCall {
  readonly path: string;
  readonly body: unknown;
}

let folder: string;
let source: string;
let bot: TrackedServer;
let service: ServiceProcess;
const calls: BotCall[] = [];
/** Answers to the next calls, in order; once they are used up, every call succeeds. */
const answers: unknown[] = [];

const startBotApi = () =>
  listenTracked(
    createServer(async (request, response) => {
      calls.push({ path: request.url ?? '', body: await readJson(request) });
      const isKnown = request.url?.startsWith(`/bot${BOT_TOKEN}/`);
      const good = request.url?.endsWith('/getMe')
        ? { username: 'shop_bot' }
        : { message_id: calls.length };
      const answer = isKnown
        ? (answers.shift() ?? { ok: true, result: good })
        : { ok: false, error_code: 401, description: 'Unauthorized' };
      respondJson(response, 200, answer);
    }),
    0,
    '127.0.0.1',
  );

/** The service's source with what the page shows in its place. @returns its folder */
async function withThirdChannel(apiUrl: string): Promise<string> {
  const copy = join(folder, 'service');
  for (const name of ['src', 'package.json', 'tsconfig.json'])
    await cp(join(root, 'service', name), join(copy, name), { recursive: true });
  for (const name of ['node_modules', 'service/node_modules', 'examples'])
    await symlink(join(root, name), join(folder, name));
  const page = await readFile(join(root, 'docs/channels.md'), 'utf8');
  const [adapter = '', registration = ''] = [...page.matchAll(/```ts\n(.*?)```/gs)].map(
    ([, code]) => code!,
  );
  await writeFile(
    join(copy, 'src/channels/telegram.ts'),
    adapter.replace("https://api.telegram.org'", `${apiUrl}'`),
  );
  const [importLine = '', listLine = '', typesLine = '', wordLine = '', labelLine = ''] =
    registration.trim().split('\n');
  const replace = async (path: string, was: RegExp, line: string) => {
    const file = join(copy, 'src', path);
    const text = await readFile(file, 'utf8');
    expect(text).toMatch(was);
    await writeFile(file, text.replace(was, line));
  };
  await replace('channels/registry.ts', /^const ADAPTERS.*$/m, `${importLine}\n${listLine}`);
  await replace('conversations/contact.ts', /^export const CHANNEL_TYPES.*$/m, typesLine);
  await replace('deliveries/filter.ts', /^ {2}channels: \['web_chat.*$/m, wordLine);
  await replace(
    'deliveries/screens/filterLabels.ts',
    /^(?= {4}whatsapp_cloud:)/m,
    `${labelLine}\n`,
  );
  return copy;
}

beforeAll(async () => {
  bot = await startBotApi();
  folder = await mkdtemp(join(tmpdir(), 'third-channel-'));
  source = await withThirdChannel(`http://127.0.0.1:${bot.port}`);
}, 60_000);
afterAll(async () => {
  await service?.close();
  await bot?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the third channel of docs/channels.md', () => {
  it('is type-checked as the service is', () => {
    const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} };
    const config = join(source, 'tsconfig.json');
    const { fileNames, options } = ts.getParsedCommandLineOfConfigFile(config, {}, host)!;
    const program = ts.createProgram(fileNames, { ...options, noEmit: true });
    // Files that do not mention channels are unchanged.
    const files = program
      .getSourceFiles()
      .filter(({ text, isDeclarationFile }) => !isDeclarationFile && /channel/i.test(text));
    expect(files.length).toBeGreaterThan(100);
    const faults = files.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]);
    expect(ts.formatDiagnostics(faults, ts.createCompilerHost(options))).toBe('');
  }, 300_000);

  it('is all that is needed for customer and team to write to one another', async () => {
    service = await startServiceProcess({
      script: join(source, 'src/main.ts'),
      env: {
        ...MEMBER_ENV,
        CHANNEL_RETRY_DELAYS_MS: '50,50,50,50',
        // Each run has another folder.
        NODE_DISABLE_COMPILE_CACHE: '1',
      },
    });
    const browser = await signedInBrowser(service.url);
    expect((await browser.get('/channels')).text).toContain('Connect WhatsApp Connect Telegram');
    expect((await browser.get('/channels/new?type=telegram')).text).toMatch(
      /Bot token .*From @BotFather\..*Secret token \(optional\)/,
    );
    const form = { type: 'telegram', name: 'Bot', s_secret_token: '' };
    const refused = await browser.post('/channels', { ...form, s_bot_token: 'nonsense' });
    expect(refused.problem('s_bot_token')).toBe('Must be a token such as 123456:ABC-DEF.');
    const page = await browser.post('/channels', { ...form, s_bot_token: BOT_TOKEN });
    expect(page.text).toContain('Set up Telegram');
    const path = page.path.split('?')[0]!;
    expect((await browser.post(`${path}/test`)).text).toContain(
      'Telegram knows this bot as @shop_bot.',
    );

    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the API client checks answers against a contract that does not know this channel
    const channels: any = await fetch(`${service.url}/api/channels`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    }).then((answer) => answer.json());
    const [channel] = channels.data;
    expect(channel).toMatchObject({
      type: 'telegram',
      settings: { secret_token: expect.any(String) },
      secrets_set: ['bot_token'],
    });

    const webhook = service.url + new URL(channel.webhook_url).pathname;
    const update = (text: string, id: number, token: string = channel.settings.secret_token) =>
      fetch(webhook, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': token },
        body: JSON.stringify({
          update_id: id,
          message: { message_id: id, date: Math.floor(Date.now() / 1000), chat: CHAT, text },
        }),
      });
    expect((await update('Not from Telegram', 1, 'made-up')).status).toBe(401);
    expect((await update('Is it open?', 2)).status).toBe(200);
    expect((await update('Is it open?', 2)).status).toBe(200);

    const list = await browser.get('/conversations');
    expect(list.text).toContain('Nadia');
    const thread = /href="(\/conversations\/conv_\w+)/.exec(list.html)![1]!;
    await browser.get(thread);
    answers.push({
      ok: false,
      error_code: 429,
      description: 'Too Many Requests: retry later',
      parameters: { retry_after: 0 },
    });
    await browser.post(`${thread}/reply`, { text: 'Yes, until six' });
    const shown = await waitFor('the reply at Telegram', async () => {
      const { text } = await browser.get(thread);
      return text.includes('Sent to Telegram') && text;
    });
    expect(shown.match(/customer Is it open\?/g)).toHaveLength(1);
    const sent = calls.filter((each) => each.path.endsWith('/sendMessage'));
    expect(sent).toEqual(
      [1, 2].map(() => ({
        path: `/bot${BOT_TOKEN}/sendMessage`,
        body: { chat_id: '777', text: 'Yes, until six' },
      })),
    );

    answers.push({
      ok: false,
      error_code: 403,
      description: 'Forbidden: bot was blocked by the user',
    });
    await browser.post(`${thread}/reply`, { text: 'Too late' });
    await waitFor('the refusal', async () =>
      (await browser.get(thread)).text.includes(
        'Not delivered. Forbidden: bot was blocked by the user',
      ),
    );
  }, 60_000);
});
