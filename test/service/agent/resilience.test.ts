// Crashes, stops, a full disk, and a customer who is a machine too.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { hang, startModelServer, text, type ModelServer } from '../../helpers/modelServer.ts';
import { onEmbeddedStore } from '../../helpers/onEmbeddedStore.ts';
import { BARE_ENV } from '../../helpers/program.ts';
import { startServiceProcess } from '../../helpers/serviceProcess.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { held, inTurn, startAgentService } from './agentService.ts';

const MAIN = fileURLToPath(new URL('../../../service/dist/main.js', import.meta.url));
const llmEnv = (model: ModelServer) => ({
  LLM_BASE_URL: model.url,
  LLM_API_KEY: model.apiKey,
  LLM_MODEL: model.model,
  AGENT_QUIET_MS: '20',
});

describe('two machines that talk with each other', () => {
  it('are parted after thirty replies in ten minutes, however much is written between them; over a longer time they may go on', async () => {
    let ahead = 0;
    const agent = await startAgentService({
      clock: { now: () => new Date(Date.now() + ahead) },
      env: { AGENT_QUIET_MS: '25' },
    });
    try {
      const talk = await agent.talk('message 0');
      for (let n = 1; n <= 20; n++) {
        await talk.reply(n);
        if (n === 10) ahead += 11 * 60_000; // the first ten are forgotten
        await talk.write(`message ${n}`);
      }
      for (let n = 21; n <= 40; n++) {
        expect(await talk.reply(n)).toBe('Hello from the model.');
        await Promise.all(Array.from({ length: 6 }, () => talk.write(`message ${n}`)));
      }
      expect(await talk.reply(41)).toBe(
        'Sorry, something went wrong on our side. A person will follow up and write to you here.',
      );
      expect(await talk.record()).toMatchObject({
        status: 'awaiting_human',
        handover: { reason: 'agent_error', note: 'More than 30 replies in ten minutes.' },
      });
    } finally {
      await agent.close();
    }
  });
});

describe('the service stops while the model thinks', () => {
  it('at once, and takes the turn up again after the start', async () => {
    const agent = await startAgentService();
    try {
      agent.model.answerBy(inTurn(hang(), text('After the restart.')));
      const talk = await agent.talk('hello');
      await waitFor('the model to be asked', () => agent.asked().length === 1);
      const before = performance.now();
      await agent.service.restart();
      expect(performance.now() - before).toBeLessThan(10_000);
      expect(await talk.reply()).toBe('After the restart.');
      expect(await talk.replies()).toHaveLength(1);
      expect(await talk.record()).toMatchObject({ status: 'ai_active' });
    } finally {
      await agent.close();
    }
  });

  it('by a crash: there is exactly one reply after the restart', async () => {
    const model = await startModelServer();
    const service = await startServiceProcess({ env: llmEnv(model) });
    try {
      await service.api.patch('/api/agent', { enabled: true });
      const before = held(text('Before the crash.'));
      model.answerBy(inTurn(before.reply, text('After the crash.')));
      const customer = await chatCustomer(service.url);
      await customer.write('hello');
      await before.asked;
      await service.crashAndRestart();
      await before.give();
      await waitFor('a reply', async () => (await customer.read())[1]);
      // What is written afterwards is answered after all that came before.
      model.answerBy(() => text('And again.'));
      await customer.write('and?');
      await waitFor('the next reply', async () => (await customer.read())[3]);
      expect((await customer.read()).map((message) => message.text)).toEqual([
        'hello',
        'After the crash.',
        'and?',
        'And again.',
      ]);
    } finally {
      await service.close();
      await model.close();
    }
  });
});

const onLinux = process.platform === 'linux' ? onEmbeddedStore(describe) : describe.skip;

// A file size limit makes real writes fail as a full disk does, for any user, and can be lifted
// again.
onLinux('when the store cannot write for a moment', () => {
  const KEY = `cs_live_${'E'.repeat(32)}`;
  let folder: string;
  let child: ChildProcess;
  let model: ModelServer;
  afterEach(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await model.close();
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (env: Record<string, string> = {}) => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
    model = await startModelServer();
    let out = '';
    child = spawn(process.execPath, [MAIN], {
      env: {
        ...BARE_ENV,
        PORT: '0',
        DATA_DIR: folder,
        BOOTSTRAP_API_KEY: KEY,
        CHAT_RATE_LIMIT_PER_MINUTE: '0',
        ADDRESS_BUDGET: '0',
        ...llmEnv(model),
        ...env,
      },
    });
    child.stdout!.on('data', (chunk) => (out += String(chunk)));
    const url = await waitFor('the start', () => /"url":"([^"]+)"/.exec(out)?.[1]);
    await apiClient(url, KEY).patch('/api/agent', { enabled: true });
    return url;
  };
  const limit = (size: string) =>
    promisify(execFile)('prlimit', ['--pid', String(child.pid), `--fsize=${size}`]);
  const cannotWrite = (url: string) =>
    waitFor(
      '/readyz to say that it cannot write',
      async () => (await fetch(`${url}/readyz`)).status === 503,
    );

  it('the reply is kept until there is room again, and the model is asked once', async () => {
    const url = await start();
    const answer = held(text('Kept.'));
    model.answerBy(() => answer.reply);
    const customer = await chatCustomer(url);
    const { conversation_id } = await customer.write('hello');
    await answer.asked;
    await limit('1024:unlimited');
    await answer.give();
    await cannotWrite(url);
    await limit('unlimited');
    await waitFor('the reply', async () => (await customer.read())[1]);
    expect(await customer.read()).toHaveLength(2);
    expect(model.requests).toHaveLength(1);
    expect(
      (await apiClient(url, KEY).get(`/api/conversations/${conversation_id}`)).body,
    ).toMatchObject({ status: 'ai_active', message_count: 2 });
  });

  it('a turn that could not be begun is begun as soon as there is room again', async () => {
    // Longer than it takes to set the limit, on a busy machine too.
    const url = await start({ AGENT_QUIET_MS: '3000' });
    model.answerBy(() => text('Late, but here.'));
    const customer = await chatCustomer(url);
    await customer.write('hello');
    await limit('1024:unlimited');
    await cannotWrite(url);
    await limit('unlimited');
    expect(await waitFor('the reply', async () => (await customer.read())[1])).toMatchObject({
      text: 'Late, but here.',
    });
  });
});
