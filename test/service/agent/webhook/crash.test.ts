// The service dies by kill -9 in the middle of a turn, in both ways of answering, and between attempts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SENTENCES } from '../../../../service/src/agent/keyword/sentences.ts';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { startServiceProcess, type ServiceProcess } from '../../../helpers/serviceProcess.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import {
  accepts,
  answers,
  hangs,
  OWNER,
  says,
  startWorkflowServer,
  talkOf,
  type Talk,
  type WorkflowServer,
} from './workflowStage.ts';

describe('a service that dies in the middle of a turn', () => {
  let service: ServiceProcess;
  let workflow: WorkflowServer;

  beforeAll(async () => {
    workflow = await startWorkflowServer();
    service = await startServiceProcess({
      env: { INSECURE_TARGETS: 'true', AGENT_QUIET_MS: '20' },
    }).catch(async (error) => {
      await workflow.close();
      throw error;
    });
  });
  beforeEach(async () => {
    workflow.forget();
    await publish({ timeout: 60 });
  });
  afterAll(async () => {
    await service?.close();
    await workflow?.close();
  });

  const publish = async ({ timeout }: { timeout: number }): Promise<void> => {
    const { body } = await service.api.put('/api/agent/webhook', {
      endpoint: workflow.url,
      owner: OWNER,
      turn_on: true,
      timeout,
    });
    workflow.secret = body.secret;
  };
  const begin = async (): Promise<Talk> => {
    const customer = await chatCustomer(service.url);
    const { conversation_id: id } = await customer.write('hello');
    return talkOf(() => service.api, customer, id);
  };
  const operate = (id: string, operation: string, body: unknown = {}) =>
    service.api.post(`/api/agent-turns/${id}/${operation}`, body);

  it('takes the answer by the API after the restart, once', async () => {
    workflow.answer(accepts);
    const talk = await begin();
    const { body: turn } = await workflow.turn();
    await service.crashAndRestart();
    const sent = await operate(turn.turn_id, 'replies', { text: 'After the crash.' });
    expect([sent.status, sent.body.turn.status]).toEqual([201, 'answered']);
    expect((await operate(turn.turn_id, 'end')).body.error.code).toBe('turn_superseded');
    expect(await talk.replies()).toEqual(['After the crash.']);
    expect(workflow.turns).toHaveLength(1);
  });

  it('does not repeat a turn whose HTTP answer it lost: at the deadline a person gets it', async () => {
    await publish({ timeout: 5 });
    workflow.answer(hangs);
    const talk = await begin();
    const { body: turn } = await workflow.turn();
    await service.crashAndRestart();
    expect(await talk.reply()).toBe(SENTENCES.handOverAfterError.en);
    expect(await talk.turnIn('failed')).toMatchObject({
      turn_id: turn.turn_id,
      attempts: 1,
      problem: expect.stringContaining('the service was restarted'),
    });
    expect((await talk.record()).status).toBe('awaiting_human');
    expect((await operate(turn.turn_id, 'end')).status).toBe(409);
    expect(await talk.replies()).toHaveLength(1);
    expect(workflow.turns).toHaveLength(1);
  });

  it('still takes the answer by the API of a turn whose HTTP call it lost', async () => {
    workflow.answer(hangs);
    const talk = await begin();
    const { body: turn } = await workflow.turn();
    await service.crashAndRestart();
    await operate(turn.turn_id, 'replies', { text: 'In time.' });
    expect(await talk.replies()).toEqual(['In time.']);
  });

  it('goes on with its attempts under the same turn_id when it died between two', async () => {
    workflow.answer(answers({}, 503));
    const talk = await begin();
    await waitFor('the attempt on record', async () => {
      const [turn] = await talk.turns();
      return turn?.status === 'queued' && turn.attempts >= 1;
    });
    await service.crashAndRestart();
    workflow.answer(says('Now.'));
    expect(await talk.reply()).toBe('Now.');
    const { turn_id: id } = await talk.turnIn('answered');
    expect(new Set(workflow.turns.map(({ body }) => body.turn_id))).toEqual(new Set([id]));
  });

  describe('while its workflow waits for the customer', () => {
    const ask = async (talk: Talk, turnId: string): Promise<string> => {
      const { status, body } = await service.api.post('/api/waits', {
        kind: 'reply',
        conversation_id: talk.id,
        turn_id: turnId,
        message: 'Which order?',
        resume_url: `${workflow.url}/rests/${crypto.randomUUID()}`,
      });
      expect(status).toBe(201);
      return body.id as string;
    };
    const isAnswered = (wait: string) =>
      waitFor('the wait to be answered', async () => {
        const { body } = await service.api.get(`/api/waits/${wait}`);
        return body.status === 'answered';
      });
    const collect = async (wait: string) =>
      (await service.api.post(`/api/waits/${wait}/collect`)).body.answer?.text as string;
    const rest = async () => {
      workflow.answer(accepts);
      const talk = await begin();
      const { body } = await workflow.turn();
      const id = body.turn_id as string;
      return { talk, id, wait: await ask(talk, id) };
    };
    const goesOn = async ({ talk, id }: { talk: Talk; id: string }) => {
      expect((await operate(id, 'replies', { text: 'Refunded.' })).status).toBe(201);
      expect((await operate(id, 'end')).body.error.code).toBe('turn_superseded');
      expect(await talk.replies()).toEqual(['Which order?', 'Refunded.']);
      expect(await talk.turns()).toMatchObject([{ status: 'answered', is_resumed: true }]);
      expect(workflow.turns).toHaveLength(1);
    };

    it('lets the turn rest on, and go on with the answer', async () => {
      const { talk, id, wait } = await rest();
      await service.crashAndRestart();
      expect(await talk.turns()).toMatchObject([{ turn_id: id, status: 'suspended' }]);
      expect((await service.api.get(`/api/waits/${wait}`)).body).toMatchObject({
        status: 'open',
        turn_id: id,
      });
      await talk.write('A-1042');
      await isAnswered(wait);
      expect(await collect(wait)).toBe('A-1042');
      await goesOn({ talk, id });
    }, 60_000);

    it('keeps an answer that came right before it died, and a turn that is just coming back', async () => {
      const { talk, id, wait } = await rest();
      await talk.write('A-1042');
      await service.crashAndRestart();
      await isAnswered(wait);
      expect(await talk.turns()).toMatchObject([{ turn_id: id, status: 'running' }]);
      await service.crashAndRestart();
      const lost = collect(wait).catch(() => null);
      await service.crashAndRestart();
      await lost;
      expect(await collect(wait)).toBe('A-1042');
      await service.crashAndRestart();
      await goesOn({ talk, id });
    }, 60_000);
  });

  it('loses nothing of a message that came right before it died', async () => {
    workflow.answer(says('Here.'));
    const talk = await begin();
    await service.crashAndRestart();
    await talk.write('still there?');
    await waitFor('an answer', async () => {
      const { messages } = await talk.record();
      return messages.at(-1).sender.type === 'agent';
    });
    const answered = workflow.turns.flatMap(({ body }) => body.messages);
    expect(new Set(answered.map(({ text }) => text))).toEqual(new Set(['hello', 'still there?']));
  });
});
