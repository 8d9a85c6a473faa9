// What the agent says about calls that failed or wait is not left to the model.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { badRequest, text, toolCalls } from '../../helpers/modelServer.ts';
import {
  answers,
  held,
  inOrder,
  startAgentService,
  type AgentService,
  type Talk,
} from './agentService.ts';

const FAILED = {
  en: 'I could not do that right now. Would you like a person to follow up?',
  es: 'No pude hacerlo en este momento. ¿Desea que una persona le dé seguimiento?',
  pt: 'Não consegui fazer isso agora. Gostaria que uma pessoa desse continuidade?',
};
const WAITING = 'A colleague has to confirm this first. I will write as soon as it is decided.';
const CLAIM = 'It is booked, all done!';
const EXPIRES_MS = 3_600_000;
const BOOK_AND_LOOK = toolCalls([{ name: 'book' }, { name: 'find_stock' }]);

describe('what the agent says about its tool calls', () => {
  let agent: AgentService;
  let refundId: string;
  let aheadMs = 0;

  beforeAll(async () => {
    agent = await startAgentService({
      clock: { now: () => new Date(Date.now() + aheadMs) },
      env: { APPROVAL_EXPIRES_MS: String(EXPIRES_MS) },
    });
    await agent.tool('book');
    await agent.tool('find_stock');
    refundId = await agent.tool('refund', { ask_before_running: true });
  });
  beforeEach(() => {
    agent.reset();
    agent.tools.on('book', answers({ error: 'closed' }, 400));
    agent.tools.on('find_stock', answers({ stock: 3 }));
    agent.tools.on('refund', answers({ refunded: true }));
  });
  afterAll(() => agent?.close());

  const failedBooking = async (words = 'please book a table for us') => {
    agent.model.answerBy(inOrder(toolCalls({ name: 'book' }), text(CLAIM)));
    const talk = await agent.talk(words);
    await talk.reply();
    return talk;
  };
  const waiting = async () => {
    agent.model.answerBy(inOrder(toolCalls({ name: 'refund' }), text('The refund has been made.')));
    const talk = await agent.talk('please refund me');
    expect(await talk.reply()).toBe(WAITING);
    await talk.call(({ status }) => status === 'pending_approval');
    return talk;
  };
  const anotherTurn = async () => void (await (await agent.talk('another customer')).reply());

  it.each([
    ['en', 'please book a table for us'],
    ['es', 'por favor reserva una mesa para nosotros'],
    ['pt', 'por favor reserve uma mesa para nós, obrigado'],
  ] as const)(
    'says in %s that a call failed and offers a person, and does not ask the model',
    async (language, words) => {
      const talk = await failedBooking(words);
      expect(await talk.replies()).toEqual([FAILED[language]]);
      expect(agent.asked()).toHaveLength(1);
      expect(await talk.record()).toMatchObject({ status: 'ai_active' });
    },
  );

  it('says what succeeded and what failed, whatever the model claims, and closes nothing', async () => {
    agent.model.answerBy(
      inOrder(
        BOOK_AND_LOOK,
        toolCalls({
          name: 'close-conversation',
          arguments: { verdict: 'goal_reached', summary: 's', message: CLAIM },
        }),
      ),
    );
    const talk = await agent.talk('how many are there, and book one');
    expect(await talk.reply()).toBe(`${CLAIM}\n\n${FAILED.en}`);
    expect(await talk.record()).toMatchObject({ status: 'ai_active', outcome: null });
  });

  it('says the whole sentence after the longest reply, and only once with a reply that has it already', async () => {
    agent.model.answerBy(inOrder(BOOK_AND_LOOK, text('This is a sentence. '.repeat(500))));
    const talk = await agent.talk('how many are there, and book one');
    const long = await talk.reply();
    expect(long.endsWith(`sentence.\n\n${FAILED.en}`)).toBe(true);
    expect(long.length).toBeLessThanOrEqual(4096);
    agent.model.answerBy(inOrder(BOOK_AND_LOOK, text(`${FAILED.en}\n\nThere are three.`)));
    const other = await agent.talk('how many are there, and book one');
    expect(await other.reply()).toBe(`There are three.\n\n${FAILED.en}`);
  });

  it('hands over, with the sentence, when the model calls tools instead of speaking', async () => {
    agent.model.answerBy(
      inOrder(BOOK_AND_LOOK, toolCalls({ name: 'book', arguments: { again: 1 } })),
    );
    const talk = await agent.talk('how many are there, and book one');
    expect(await talk.reply()).toBe(
      `This is the result:\nStock: 3\n\n${FAILED.en}\n\nSorry, something went wrong on our side. A person will follow up and write to you here.`,
    );
    expect(agent.tools.calls).toHaveLength(2);
  });

  it('says of eight long results as much as a message holds, and that it hands over', async () => {
    const n = Array.from({ length: 8 }, (_, at) => at);
    agent.tools.on('find_stock', (res, call) =>
      answers({ message: `${String(call.arguments.n)}${' many'.repeat(300)}` })(res, call),
    );
    agent.model.answerBy(
      inOrder(
        toolCalls(n.map((at) => ({ name: 'find_stock', arguments: { n: at } }))),
        badRequest('no'),
      ),
    );
    const talk = await agent.talk('how many are there?');
    const long = await talk.reply();
    expect(long.length).toBeLessThanOrEqual(4096);
    for (const at of n) expect(long).toMatch(new RegExp(`^${at} many.*…$`, 'm'));
    expect(long.endsWith('A person will follow up and write to you here.')).toBe(true);
  });

  it('says what failed also to a customer who asks for a person while another call runs', async () => {
    const slow = held(answers({ stock: 3 }));
    agent.tools.on('find_stock', slow.reply);
    agent.model.answerBy(inOrder(BOOK_AND_LOOK));
    const talk = await agent.talk('please book a table for us');
    await slow.asked;
    await talk.call(({ tool, status }) => tool === 'book' && status === 'failed');
    await talk.write('I want to talk to a person');
    expect(await talk.reply()).toBe(
      `${FAILED.en}\n\nOf course. I am passing you to a person, who will write to you here.`,
    );
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'customer_request' },
    });
    await slow.give();
  });

  it.each(['yes please', 'Yes', 'sí, por favor', 'sim'])(
    'hands over on "%s" to the offer, because of the failure',
    async (yes) => {
      const talk = await failedBooking();
      await talk.write(yes);
      await talk.reply(2);
      expect(await talk.record()).toMatchObject({
        status: 'awaiting_human',
        handover: { reason: 'tool_failure' },
      });
    },
  );

  it.each(['no', 'no, thanks', 'yes, but first tell me the price'])(
    'does not hand over on "%s"',
    async (no) => {
      const talk = await failedBooking();
      agent.model.answerBy(() => text('All right.'));
      await talk.write(no);
      expect(await talk.reply(2)).toBe('All right.');
      expect(await talk.record()).toMatchObject({ status: 'ai_active', handover: null });
    },
  );

  it('does not hand over on a "yes" that answers something else', async () => {
    const talk = await agent.talk('hello');
    await talk.reply();
    await talk.write('yes please');
    await talk.reply(2);
    expect(await talk.record()).toMatchObject({ status: 'ai_active' });
  });

  it('says that a call waits for approval, and tells its result once after it was approved', async () => {
    const talk = await waiting();
    expect(agent.asked()).toHaveLength(1);
    expect(agent.tools.calls).toEqual([]);
    expect((await talk.record()).pending_approvals).toBe(1);
    await talk.decide('approve');
    expect(await talk.reply(2)).toBe('The refund has been made.');
    expect(agent.tools.calls).toHaveLength(1);
    expect(agent.asked()[1]!.at(-1)!.content).toMatch(
      /waited for approval and has now ended: .*"status":"succeeded","result":\{"refunded":true\}/,
    );
    await anotherTurn();
    expect(await talk.replies()).toHaveLength(2);
    await talk.write('thanks');
    expect(await talk.reply(3)).toBeTruthy();
    expect((await talk.record()).pending_approvals).toBe(0);
  });

  it('says that an approved call failed', async () => {
    agent.tools.on('refund', answers({ error: 'too late' }, 400));
    const talk = await waiting();
    await talk.decide('approve');
    expect(await talk.reply(2)).toBe(FAILED.en);
    expect(agent.asked()).toHaveLength(1);
  });

  it('says that the team did not confirm a call, and hands over on a yes', async () => {
    const talk = await waiting();
    await talk.decide('reject');
    expect(await talk.reply(2)).toBe(
      'The team did not confirm this, so it was not done. Would you like a person to follow up?',
    );
    expect(agent.tools.calls).toEqual([]);
    await talk.write('yes');
    await talk.reply(3);
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'tool_failure' },
    });
  });

  it('says that nobody confirmed a call in time', async () => {
    const talk = await waiting();
    aheadMs += EXPIRES_MS;
    expect(await talk.reply(2)).toBe(
      'Nobody could confirm this in time, so it was not done. Would you like a person to follow up?',
    );
    await anotherTurn();
    expect(await talk.replies()).toHaveLength(2);
  });

  it('says that a call was not done when its tool is paused while the call waits', async () => {
    const talk = await waiting();
    await agent.service.api.post(`/api/tools/${refundId}/pause`);
    expect(await talk.reply(2)).toBe(FAILED.en);
    await agent.service.api.post(`/api/tools/${refundId}/go-live`, {});
  });

  it('says nothing of an approval that a close cancelled', async () => {
    const talk = await waiting();
    await talk.act('close');
    await talk.call(({ status }) => status === 'cancelled');
    await anotherTurn();
    expect(await talk.replies()).toHaveLength(1);
  });

  it('tells the result of an approved call only at the hand-back when a person took over while the call ran', async () => {
    const slow = held(answers({ refunded: true }));
    agent.tools.on('refund', slow.reply);
    const talk = await waiting();
    await talk.decide('approve');
    await slow.asked;
    await talk.act('takeover');
    await slow.give();
    await talk.call(({ status }) => status === 'succeeded');
    await anotherTurn();
    expect(await talk.replies()).toHaveLength(1);
    agent.model.answerBy(inOrder(text('Your refund is on its way.')));
    await talk.act('handback');
    expect(await talk.reply(2)).toBe('Your refund is on its way.');
  });

  it('answers what is written while an approval waits, and does not ask for the same approval again', async () => {
    const talk = await waiting();
    agent.model.answerBy(inOrder(toolCalls({ name: 'refund' }), text('It is with a colleague.')));
    await talk.write('is it done?');
    expect(await talk.reply(2)).toBe('It is with a colleague.');
    expect(
      (await talk.calls()).map(({ status, error }) => [status, error?.message ?? null]),
    ).toEqual([
      ['pending_approval', null],
      ['failed', 'The same call waits for approval already.'],
    ]);
  });

  it('puts the offer last when another call waits, so that a yes is understood', async () => {
    agent.model.answerBy(inOrder(toolCalls([{ name: 'book' }, { name: 'refund' }])));
    const talk: Talk = await agent.talk('refund that, and book the other');
    expect(await talk.reply()).toBe(`${WAITING}\n\n${FAILED.en}`);
    await talk.write('yes');
    await talk.reply(2);
    expect(await talk.record()).toMatchObject({
      status: 'awaiting_human',
      handover: { reason: 'tool_failure' },
    });
  });

  it('tells once the result of a call that was approved while the model found words for the call beside it', async () => {
    const [overtaken, fresh] = [held(text('There are three.')), held(text('Three, and refunded.'))];
    agent.model.answerBy(
      inOrder(
        toolCalls([{ name: 'find_stock' }, { name: 'refund' }]),
        overtaken.reply,
        fresh.reply,
      ),
    );
    const talk = await agent.talk('how many are there, and refund me');
    await overtaken.asked;
    await talk.decide('approve');
    await fresh.asked;
    await overtaken.give();
    await talk.turns(2);
    await fresh.give();
    expect(await talk.turns(3)).toMatchObject([{ used: true }, { used: false }, { used: true }]);
    expect(await talk.replies()).toEqual(['Three, and refunded.']);
  });
});
