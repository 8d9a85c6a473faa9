// The service dies by kill -9 in the middle of turns, in both ways of answering, and between attempts.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
  type Workflow,
  type WorkflowServer,
} from './workflowStage.ts';

/** Where a turn is when the process dies. Its customer's first message says the same. */
type CrashPoint =
  | 'accepted'
  | 'HTTP answer lost'
  | 'HTTP answer lost, answered by the API'
  | 'between two attempts'
  | 'resting'
  | 'coming back'
  | 'just written';

interface Resting {
  readonly talk: Talk;
  readonly id: string;
  readonly wait: string;
}

describe('a service that dies in the middle of a turn', () => {
  let service: ServiceProcess;
  let workflow: WorkflowServer;
  let killed: Awaited<ReturnType<typeof killDuringTurns>>;
  const workflows: Partial<Record<CrashPoint, Workflow>> = {
    accepted: accepts,
    'HTTP answer lost': hangs,
    'HTTP answer lost, answered by the API': hangs,
    'between two attempts': answers({}, 503),
    resting: accepts,
    'coming back': accepts,
  };

  beforeAll(async () => {
    workflow = await startWorkflowServer();
    workflow.answer((res, turn) => {
      const answerTurn = workflows[turn.messages[0].text as CrashPoint] ?? says('Here.');
      answerTurn(res, turn);
    });
    service = await startServiceProcess({
      env: { INSECURE_TARGETS: 'true', AGENT_QUIET_MS: '20' },
    });
    killed = await killDuringTurns();
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
  const begin = async (place: CrashPoint): Promise<Talk> => {
    const customer = await chatCustomer(service.url);
    const { conversation_id: id } = await customer.write(place);
    return talkOf(() => service.api, customer, id);
  };
  const requests = (place: CrashPoint) =>
    workflow.turns.map(({ body }) => body).filter(({ messages }) => messages[0].text === place);
  const operate = (id: string, operation: string, body: unknown = {}) =>
    service.api.post(`/api/agent-turns/${id}/${operation}`, body);
  /** Begins a turn, and waits until the workflow has it. */
  const beginTurn = async (place: CrashPoint): Promise<{ talk: Talk; id: string }> => {
    const talk = await begin(place);
    const turn = await waitFor('the turn', () => requests(place)[0]);
    return { talk, id: turn.turn_id as string };
  };
  /** Begins a turn whose workflow then asks the customer, and rests. */
  const beginRest = async (place: CrashPoint): Promise<Resting> => {
    const { talk, id } = await beginTurn(place);
    const { status, body } = await service.api.post('/api/waits', {
      kind: 'reply',
      conversation_id: talk.id,
      turn_id: id,
      message: 'Which order?',
      resume_url: `${workflow.url}/rests/${crypto.randomUUID()}`,
    });
    expect(status).toBe(201);
    return { talk, id, wait: body.id };
  };

  /** Turns in each state in which the process may die, and its death. */
  async function killDuringTurns() {
    await publish({ timeout: 60 });
    const accepted = await beginTurn('accepted');
    const inTime = await beginTurn('HTTP answer lost, answered by the API');
    const resting = await beginRest('resting');
    const comingBack = await beginRest('coming back');
    await publish({ timeout: 5 });
    const lost = await beginTurn('HTTP answer lost');
    await publish({ timeout: 60 });
    const between = await begin('between two attempts');
    await waitFor('the attempt on record', async () => {
      const [turn] = await between.turns();
      return turn?.status === 'queued' && turn.attempts >= 1;
    });
    await comingBack.talk.write('A-1042');
    const written = await begin('just written');
    await service.crashAndRestart();
    workflows['between two attempts'] = says('Now.');
    return { accepted, inTime, resting, comingBack, lost, between, written };
  }

  it('takes the answer by the API after the restart, once', async () => {
    const { talk, id } = killed.accepted;
    const sent = await operate(id, 'replies', { text: 'After the crash.' });
    expect([sent.status, sent.body.turn.status]).toEqual([201, 'answered']);
    expect((await operate(id, 'end')).body.error.code).toBe('turn_superseded');
    expect(await talk.replies()).toEqual(['After the crash.']);
    expect(requests('accepted')).toHaveLength(1);
  });

  it('still takes the answer by the API of a turn whose HTTP call it lost', async () => {
    const { talk, id } = killed.inTime;
    await operate(id, 'replies', { text: 'In time.' });
    expect(await talk.replies()).toEqual(['In time.']);
  });

  it('does not repeat a turn whose HTTP answer it lost: at the deadline a person gets it', async () => {
    const { talk, id } = killed.lost;
    expect(await talk.reply()).toBe(SENTENCES.handOverAfterError.en);
    expect(await talk.turnIn('failed')).toMatchObject({
      turn_id: id,
      attempts: 1,
      problem: expect.stringContaining('the service was restarted'),
    });
    expect((await talk.record()).status).toBe('awaiting_human');
    expect((await operate(id, 'end')).status).toBe(409);
    expect(await talk.replies()).toHaveLength(1);
    expect(requests('HTTP answer lost')).toHaveLength(1);
  });

  it('goes on with its attempts under the same turn_id when it died between two', async () => {
    const { between } = killed;
    expect(await between.reply()).toBe('Now.');
    const { turn_id: id } = await between.turnIn('answered');
    const sent = requests('between two attempts');
    expect(sent.length).toBeGreaterThan(1);
    expect(new Set(sent.map(({ turn_id: each }) => each))).toEqual(new Set([id]));
  });

  it('loses nothing of a message that came right before it died', async () => {
    const { written } = killed;
    await written.write('still there?');
    await waitFor('an answer', async () => {
      const { messages } = await written.record();
      return messages.at(-1).sender.type === 'agent';
    });
    const { messages } = await written.record();
    const asked = new Set(
      messages
        .filter(({ sender }: { sender: { type: string } }) => sender.type === 'customer')
        .map(({ id }: { id: string }) => id),
    );
    const answered = workflow.turns
      .flatMap(({ body }) => body.messages)
      .filter(({ id }) => asked.has(id));
    expect(new Set(answered.map(({ text }) => text))).toEqual(
      new Set(['just written', 'still there?']),
    );
  });

  describe('while its workflow waits for the customer', () => {
    const isAnswered = (wait: string) =>
      waitFor('the wait to be answered', async () => {
        const { body } = await service.api.get(`/api/waits/${wait}`);
        return body.status === 'answered';
      });
    const collect = async (wait: string) =>
      (await service.api.post(`/api/waits/${wait}/collect`)).body.answer?.text as string;
    const goesOn = async ({ talk, id }: Resting, place: CrashPoint) => {
      expect((await operate(id, 'replies', { text: 'Refunded.' })).status).toBe(201);
      expect((await operate(id, 'end')).body.error.code).toBe('turn_superseded');
      expect(await talk.replies()).toEqual(['Which order?', 'Refunded.']);
      expect(await talk.turns()).toMatchObject([{ status: 'answered', is_resumed: true }]);
      expect(requests(place)).toHaveLength(1);
    };

    it('keeps the turn at rest, and lets it go on with the answer', async () => {
      const { talk, id, wait } = killed.resting;
      expect(await talk.turns()).toMatchObject([{ turn_id: id, status: 'suspended' }]);
      expect((await service.api.get(`/api/waits/${wait}`)).body).toMatchObject({
        status: 'open',
        turn_id: id,
      });
      await talk.write('A-1042');
      await isAnswered(wait);
      expect(await collect(wait)).toBe('A-1042');
      await goesOn(killed.resting, 'resting');
    });

    it('keeps an answer that came right before it died, and a turn that is just coming back', async () => {
      const { talk, id, wait } = killed.comingBack;
      await isAnswered(wait);
      expect(await talk.turns()).toMatchObject([{ turn_id: id, status: 'running' }]);
      await service.crashAndRestart();
      const lost = collect(wait).catch(() => null);
      await service.crashAndRestart();
      await lost;
      expect(await collect(wait)).toBe('A-1042');
      await service.crashAndStartHere();
      await goesOn(killed.comingBack, 'coming back');
    });
  });
});
