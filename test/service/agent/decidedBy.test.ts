// The thread and the API tell what decided each message of the agent.
import { afterEach, expect, it } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { httpError } from '../../helpers/modelServer.ts';
import { inOrder, KEYWORD_ONLY, startAgentService, type AgentService } from './agentService.ts';

let agent: AgentService;
afterEach(() => agent?.close());

const decisions = async (talk: { record(): Promise<{ messages: { decided_by: string }[] }> }) =>
  (await talk.record()).messages.map((message) => message.decided_by);
const thread = async (id: string) =>
  (await (await signedInBrowser(agent.service.url)).get(`/conversations/${id}`)).text;

it('names the keyword agent, and nothing for a sentence of the service itself', async () => {
  agent = await startAgentService({ env: { ...KEYWORD_ONLY, ...MEMBER_ENV } });
  const talk = await agent.talk('Hello');
  await talk.reply();
  await talk.write('I want to talk to a person');
  await talk.reply(2);
  expect(await decisions(talk)).toEqual([null, 'keyword', null, null]);
  expect((await thread(talk.id)).match(/From the keyword agent/g)).toHaveLength(1);
});

it('names the language model; when it fails, the thread says why the conversation was handed over', async () => {
  agent = await startAgentService({ env: MEMBER_ENV });
  const talk = await agent.talk('Hello');
  await talk.reply();
  expect(await decisions(talk)).toEqual([null, 'language_model']);
  expect(await thread(talk.id)).toContain('From the language model');

  agent.model.answerBy(inOrder(httpError(401, 'bad key')));
  await talk.write('And now?');
  await talk.reply(2);
  expect(await decisions(talk)).toEqual([null, 'language_model', null, null]);
  expect(await thread(talk.id)).toContain(
    "handed over to a person: it ran into an error (The model's server refused the key (401): check LLM_API_KEY.)",
  );
});
