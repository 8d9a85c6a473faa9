// Crashes, stops, a full disk, and a customer who is a machine too.
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { fileSizes } from '../../helpers/folderFiles.ts';
import { hang, startModelServer, text, type ModelServer } from '../../helpers/modelServer.ts';
import { onEmbeddedStore } from '../../helpers/onEmbeddedStore.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { asksModel, held, inOrder, startAgentService } from './agentService.ts';

describe('two machines that talk with each other', () => {
  it('are parted after thirty replies in ten minutes, however much is written between them; over a longer time they may go on', async () => {
    let aheadMs = 0;
    const agent = await startAgentService({
      clock: { now: () => new Date(Date.now() + aheadMs) },
      env: { AGENT_QUIET_MS: '25' },
    });
    try {
      const talk = await agent.talk('message 0');
      for (let n = 1; n <= 20; n++) {
        await talk.reply(n);
        if (n === 10) aheadMs += 11 * 60_000; // the first ten are forgotten
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
      agent.model.answerBy(inOrder(hang(), text('After the restart.')));
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
});

const onLinux = process.platform === 'linux' ? onEmbeddedStore(it) : it.skip;

describe('a process with a language model', () => {
  let service: ServiceProcess;
  let model: ModelServer;
  beforeAll(async () => {
    model = await startModelServer();
    service = await startServiceProcess({
      env: {
        ...asksModel(model),
        // Longer than it takes to limit the process's files, also on a busy machine.
        AGENT_QUIET_MS: '3000',
      },
    });
    await service.api.patch('/api/agent', { enabled: true });
  });
  afterAll(async () => {
    await service?.close();
    await model?.close();
  });

  // A file size limit makes real writes fail as a full disk does, for any user, and can be lifted
  // again.
  const limit = (size: string | number) =>
    promisify(execFile)('prlimit', ['--pid', String(service.pid), `--fsize=${size}:unlimited`]);
  const letNothingGrow = async () =>
    limit(Math.max(...(await fileSizes(join(dirname(service.logFile), 'data')))));
  const cannotWrite = () =>
    waitFor(
      '/readyz to say that it cannot write',
      async () => (await fetch(`${service.url}/readyz`)).status === 503,
    );

  onLinux(
    'that cannot write for a moment keeps the reply until there is room again, and asks the model once; a turn that it could not begin begins then',
    async () => {
      const answer = held(text('Kept.'));
      model.answerBy(inOrder(answer.reply, text('Late, but here.')));
      const customer = await chatCustomer(service.url);
      const { conversation_id } = await customer.write('hello');
      await answer.asked;
      const late = await chatCustomer(service.url);
      await late.write('hello');
      await letNothingGrow();
      await answer.give();
      await cannotWrite();
      await limit('unlimited');
      await waitFor('the reply', async () => (await customer.read())[1]);
      expect((await customer.read()).map((message) => message.text)).toEqual(['hello', 'Kept.']);
      expect((await service.api.get(`/api/conversations/${conversation_id}`)).body).toMatchObject({
        status: 'ai_active',
        message_count: 2,
      });
      expect(await waitFor('the late reply', async () => (await late.read())[1])).toMatchObject({
        text: 'Late, but here.',
      });
      expect(model.requests).toHaveLength(2);
    },
  );

  it('that dies while the model thinks sends exactly one reply after the restart', async () => {
    const before = held(text('Before the crash.'));
    model.answerBy(inOrder(before.reply, text('After the crash.')));
    const customer = await chatCustomer(service.url);
    await customer.write('hello');
    await before.asked;
    await service.crashAndStartHere();
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
  });
});
