// What a language model sees of a question that a workflow asks, and of its answer.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startModelServer, text, type ModelServer } from '../../helpers/modelServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { asksModel } from '../agent/agentService.ts';
import {
  askCustomer,
  goesOn,
  startTalk,
  startWaitStage,
  textsTo,
  type WaitStage,
} from './support.ts';

describe('a question that a workflow asks while the agent is on', () => {
  let stage: WaitStage;
  let model: ModelServer;

  beforeAll(async () => {
    model = await startModelServer();
    stage = await startWaitStage({ env: { AGENT_QUIET_MS: '0', ...asksModel(model) } });
    await stage.api.patch('/api/agent', { enabled: true });
  });
  afterAll(async () => {
    await stage?.close();
    await model?.close();
  });

  it('is history for the agent, as its answer is, and the agent replies to neither', async () => {
    model.answerBy(() => text('Of course.'));
    const talk = await startTalk(stage);
    const said = (count: number) =>
      waitFor(`${count} texts`, async () => (await textsTo(talk.customer)).length === count);
    await said(1);
    const execution = stage.n8n.execution();
    await askCustomer(stage, talk, execution, { message: 'Which lamp is it?' });
    await talk.customer.write('The green one');
    await goesOn(execution);
    expect(model.requests).toHaveLength(1);
    await talk.customer.write('Can I return it?');
    await said(3);
    expect(model.requests).toHaveLength(2);
    const shown = JSON.stringify(model.requests[1]!.body.messages);
    const places = ['Hello', 'Which lamp is it?', 'The green one', 'Can I return it?'].map(
      (words) => shown.indexOf(words),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(model.faults).toEqual([]);
  });

  it('leaves the agent the message that the customer wrote before the question', async () => {
    const release = Promise.withResolvers<undefined>();
    const before = model.requests.length;
    model.answerBy(() => (response, request) => {
      void release.promise.then(() => text('Good morning!')(response, request));
    });
    const talk = await startTalk(stage);
    await waitFor('the model to be asked', () => model.requests.length === before + 1);
    const execution = stage.n8n.execution();
    await askCustomer(stage, talk, execution);
    await talk.customer.write('A-1042');
    await goesOn(execution);
    release.resolve(undefined);
    await waitFor('the reply', async () =>
      (await textsTo(talk.customer)).includes('Good morning!'),
    );
    expect(model.requests).toHaveLength(before + 1);
  });
});
