import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { badRequest, hang, httpError, temporaryError, text } from '../../helpers/modelServer.ts';
import { inOrder, startAgentService, type AgentService } from './agentService.ts';

const SORRY = {
  en: 'Sorry, something went wrong on our side. A person will follow up and write to you here.',
  es: 'Disculpe, tuvimos un error de nuestro lado. Una persona le dará seguimiento y le escribirá por aquí.',
};
describe('a model that fails', () => {
  let agent: AgentService;
  beforeAll(async () => {
    agent = await startAgentService({ env: { LLM_TIMEOUT_MS: '5000' } });
  });
  beforeEach(() => agent.reset());
  afterAll(() => agent?.close());

  it.each([
    // On a busy machine the agent may give up a moment before the model's client does.
    ['never answers', hang(), /did not answer (?:within 5 s|in time)/],
    [
      'refuses the request',
      badRequest('no such parameter'),
      /refused the request \(400\): no such parameter/,
    ],
  ])(
    '%s: a person gets the conversation, the customer a plain sentence, the team the reason',
    async (_what, reply, reason) => {
      agent.model.answerBy(() => reply);
      const talk = await agent.talk('¿dónde está mi pedido?');
      expect(await talk.reply()).toBe(SORRY.es);
      const { status, handover } = await talk.record();
      expect({ status, reason: handover.reason }).toEqual({
        status: 'awaiting_human',
        reason: 'agent_error',
      });
      expect(handover.note).toMatch(reason);
      expect(await talk.replies()).toHaveLength(1);
    },
  );

  it('recovers from temporary errors', async () => {
    agent.model.answerBy(inOrder(temporaryError(503), temporaryError(429), text('Here I am.')));
    expect(await (await agent.talk('hello')).reply()).toBe('Here I am.');
  });

  it('keeps the API key and the e-mail out of note and log when the model server repeats them', async () => {
    const from = agent.log.length;
    agent.model.answerBy(({ headers }) =>
      httpError(400, `bad request with ${headers.authorization}, written by maria@example.com`),
    );
    const talk = await agent.talk('hello, my address is maria@example.com', {
      email: 'maria@example.com',
    });
    await talk.reply();
    const { handover } = await talk.record();
    expect(handover.note).toContain('[key]');
    expect(handover.note).not.toContain('maria@example.com');
    await talk.turns(1);
    const logged = agent.log.slice(from).join('');
    expect(logged).toContain('the agent failed and handed over');
    expect(`${handover.note}${agent.log.join('')}`).not.toContain(agent.model.apiKey);
    expect(logged).not.toContain('maria@example.com');
  });
});
