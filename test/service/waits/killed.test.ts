// Both programs may die at any moment: no answer is lost, and no execution goes on twice. More kills,
// at random moments: test/chaos/waiters.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import {
  startExecutionHost,
  type ExecutionHost,
  type RestingExecution,
} from '../../helpers/restingExecution.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { askCustomer, askTeam, decide, startTalk, waitOf, type Json } from './support.ts';

/** On a database, another process takes a job over only when its lease has run out. */
const LONG = { timeoutMs: 90_000, everyMs: 50 };

describe('a service that is killed while executions wait', () => {
  let tls: TlsFiles;
  let service: ServiceProcess;
  let n8n: ExecutionHost;

  beforeAll(async () => {
    tls = await writeTlsFiles(await sharedTestCa());
    n8n = await startExecutionHost(() => service.api);
    service = await startServiceProcess({ caFile: tls.caFile, env: { AGENT_QUIET_MS: '100' } });
  });
  afterAll(async () => {
    await service?.close();
    await n8n?.close();
    await tls?.remove();
  });

  const goesOn = (execution: RestingExecution): Promise<Json> =>
    waitFor('the execution to go on', () => execution.wentOnWith.at(0), LONG);
  /** Waits until the wait's execution is called no more. */
  const untilDone = (wait: { id: string }): Promise<boolean> =>
    waitFor(
      'the end of the calls',
      async () => {
        const { resume } = await waitOf(service, wait);
        return resume.state === 'done' && resume.next_attempt_at === null;
      },
      LONG,
    );
  const approve = async (wait: { id: string }, note: string): Promise<void> =>
    expect((await decide(service, wait, { approved: true, note })).status).toBe(200);

  it('and n8n with it, lets three kinds of wait go on after both are back; and gives an answer again to an execution that died collecting it', async () => {
    const dying = n8n.execution();
    dying.answer('die');
    const collected = await askTeam(service, dying);
    await approve(collected, 'once');
    await waitFor('the wait to be collected', async () => {
      const { collected_at: at } = await waitOf(service, collected);
      return at !== null;
    });
    const talk = await startTalk(service);
    const [reply, inTalk, alone] = [n8n.execution(), n8n.execution(), n8n.execution()];
    await askCustomer(service, talk, reply);
    const decision = await askTeam(service, inTalk, { conversation_id: talk.conversationId });
    const ofWorkspace = await askTeam(service, alone);
    await n8n.goAway();
    await service.crashAndRestart();
    await (await chatCustomer(service.url)).write('I am somebody else');
    await talk.customer.write('A-1042');
    await approve(decision, 'one');
    await approve(ofWorkspace, 'two');
    await service.crashAndRestart();
    await n8n.comeBack();
    expect((await goesOn(reply)).answer).toMatchObject({ value: 'A-1042' });
    expect((await goesOn(inTalk)).decision).toMatchObject({ note: 'one' });
    expect((await goesOn(alone)).decision).toMatchObject({ note: 'two' });
    expect((await goesOn(dying)).decision).toMatchObject({ note: 'once' });
    await untilDone(collected);
    for (const each of [reply, inTalk, alone, dying]) expect(each.wentOnWith).toHaveLength(1);
  }, 240_000);

  it('while sixty waits are answered, loses none of the answers and gives none twice', async () => {
    const ledger = new Map<RestingExecution, string>();
    const customers = await Promise.all(Array.from({ length: 20 }, () => startTalk(service)));
    const asked: { execution: RestingExecution; answer: () => Promise<string> }[] = [];
    for (const [index, talk] of customers.entries()) {
      const execution = n8n.execution();
      if (index % 3 === 0) execution.answer(409);
      await askCustomer(service, talk, execution);
      const text = `Order ${index}`;
      // The same message twice is one message.
      const write = () => talk.customer.write(text, `order-${index}`);
      asked.push({ execution, answer: () => untilTaken(write, text) });
    }
    for (let index = 0; index < 40; index++) {
      const execution = n8n.execution();
      if (index % 4 === 0) execution.answer('die');
      const wait = await askTeam(service, execution);
      const note = `Decision ${index}`;
      const decideOnce = async () => {
        const { status, body } = await decide(service, wait, { approved: true, note });
        // On `wait_ended`, it was decided before the service died, and the answer was lost.
        if (status !== 200 && body.error.code !== 'wait_ended') throw new Error('not decided');
      };
      asked.push({ execution, answer: () => untilTaken(decideOnce, note) });
    }
    for (const [index, { execution, answer }] of asked.entries()) {
      const restart = index === asked.length / 2 ? service.crashAndStartHere() : null;
      ledger.set(execution, await answer());
      await restart;
    }
    for (const [execution, given] of ledger) {
      const { answer, decision } = await goesOn(execution);
      expect(answer?.text ?? decision.note).toBe(given);
    }
    for (const [execution] of ledger) {
      await untilDone({ id: execution.calls[0]! });
      expect(execution.wentOnWith).toHaveLength(1);
    }
  }, 300_000);

  /** Does something again until the service, which may be dead, has taken it. */
  async function untilTaken(act: () => Promise<unknown>, given: string): Promise<string> {
    await waitFor(
      `${given} to be taken`,
      async () => {
        await act();
        return true;
      },
      LONG,
    );
    return given;
  }
});
