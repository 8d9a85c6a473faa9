// The customer sees that somebody is typing while the agent takes longer than a moment.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { readChatStream, type ChatStreamReader } from '../../helpers/chatStreamReader.ts';
import { startGraphServer, type GraphServer } from '../../helpers/graphServer.ts';
import { httpError, text } from '../../helpers/modelServer.ts';
import { parseMetrics } from '../../helpers/metrics.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { connectWhatsApp } from '../channels/whatsapp/whatsappTalk.ts';
import { held, startAgentService, type AgentService } from './agentService.ts';

const TYPING_EVERY_MS = 20_000;

let agent: AgentService;
let graph: GraphServer;
let aheadMs: number;
beforeEach(async () => {
  aheadMs = 0;
  graph = await startGraphServer();
  agent = await startAgentService({
    clock: { now: () => new Date(Date.now() + aheadMs) },
    env: { GRAPH_API_URL: graph.url },
  });
});
afterEach(async () => {
  await agent.close();
  await graph.close();
});

describe('in the web chat', () => {
  let stream: ChatStreamReader;
  let conversation: string;
  afterEach(() => stream.close());

  /** A customer has written, and the model is asked. */
  async function askAgent(reply = text('Here it is.')) {
    const answer = held(reply);
    agent.model.answerBy(() => answer.reply);
    const customer = await chatCustomer(agent.service.url);
    stream = await readChatStream(agent.service.url, customer.token);
    conversation = (await customer.write('Where is it?')).conversation_id;
    await answer.asked;
    return { answer, customer };
  }
  const untilTold = (...what: string[]) =>
    waitFor(`the stream to tell ${what.join(', ')}`, () =>
      what.every((each, at) => stream.told[at] === each),
    );

  it('typing is shown until the answer comes', async () => {
    const { answer } = await askAgent();
    await untilTold('Where is it?', 'typing');
    await answer.give();
    await untilTold('Where is it?', 'typing', 'Here it is.');
  });

  it('nothing is shown when the answer comes at once', async () => {
    const { answer } = await askAgent();
    await answer.give();
    await untilTold('Where is it?', 'Here it is.');
    expect(stream.told).toHaveLength(2);
  });

  it('typing is also shown on a page that is opened later', async () => {
    const { answer, customer } = await askAgent();
    await untilTold('Where is it?', 'typing');
    const first = stream;
    stream = await readChatStream(agent.service.url, customer.token);
    await untilTold('Where is it?', 'typing');
    await answer.give();
    await untilTold('Where is it?', 'typing', 'Here it is.');
    first.close();
  });

  it('typing ends when a person takes over, although the model is still thinking', async () => {
    const { answer } = await askAgent();
    await untilTold('Where is it?', 'typing');
    await agent.service.api.post(`/api/conversations/${conversation}/takeover`, {});
    await untilTold('Where is it?', 'typing', 'not typing');
    await answer.give();
  });

  it('typing ends when the model fails', async () => {
    const { answer } = await askAgent(httpError(401, 'No.'));
    await untilTold('Where is it?', 'typing');
    await answer.give();
    await waitFor('the apology', () => stream.told.some((each) => each.startsWith('Sorry')));
    // The apology itself ends typing on the page, so no `not typing` follows.
    expect(stream.told.filter((each) => each === 'typing')).toHaveLength(1);
  });
});

describe('on WhatsApp', () => {
  const PHONE = '14155550142';

  async function askAgent() {
    const answer = held(text('Here it is.'));
    agent.model.answerBy(() => answer.reply);
    const account = await connectWhatsApp(agent.service, graph);
    await account.write(PHONE, 'Where is it?');
    await answer.asked;
    return answer;
  }
  const shown = (times: number) =>
    waitFor(`typing to be shown ${times} times`, () => graph.typings.length === times);
  const answered = () =>
    waitFor('the answer', () => graph.texts().some((each) => each === 'Here it is.'));

  it('typing is shown under the customer’s message, again before it lapses, and not after the answer', async () => {
    const answer = await askAgent();
    await shown(1);
    aheadMs += TYPING_EVERY_MS;
    await shown(2);
    const messageIds = new Set(graph.typings);
    expect(messageIds.size).toBe(1);
    await answer.give();
    await answered();
    aheadMs += TYPING_EVERY_MS;
    await waitFor('the end of the typing job', async () => {
      const page = await fetch(`${agent.service.url}/metrics`);
      const { value } = parseMetrics(await page.text());
      return value('conversation_service_queue_waiting_jobs', { queue: 'typing' }) === 0;
    });
    expect([graph.typings.length, graph.faults]).toEqual([2, []]);
  });

  it('an answer arrives although WhatsApp refuses to show typing', async () => {
    graph.refuseTyping();
    const answer = await askAgent();
    await shown(1);
    await answer.give();
    await answered();
  });
});
