import { describe, expect, it } from '@jest/globals';
import { failureOf } from '../helpers/n8n.ts';
import {
  change,
  newestCall,
  untilLive,
  untilTested,
  published,
  stage,
  stored,
  theTool,
  tools,
  trigger,
} from '../helpers/toolStage.ts';
import { answerWith } from '../helpers/webhookHost.ts';

describe('When publishing fails', () => {
  it('because the sample does not fit: says what to enter, and leaves nothing behind', async () => {
    const { production: side } = trigger({ sampleArguments: '{"order_number":1}' });
    expect(await failureOf(side.activate())).toMatchObject({
      name: 'NodeApiError',
      httpCode: '400',
      message: expect.stringMatching(
        /^"Sample Arguments" \(order_number\) must be a string. Enter "Sample Arguments" that match/,
      ),
    });
    expect(await tools()).toEqual([]);
  });

  it('because of the address: says what to set, and that it is to be published again', async () => {
    const strict = await stage.startOtherService({ env: { ALLOWED_NETWORKS: '' } });
    stage.credential = { baseUrl: strict.url, apiKey: strict.apiKey };
    expect(await failureOf(trigger().production.activate())).toMatchObject({
      httpCode: '422',
      message: expect.stringMatching(
        /Choose where n8n runs under Settings of the service.*publish/,
      ),
    });
    expect((await strict.api.get('/api/tools')).body.data).toEqual([]);
  });

  it('because of the base URL: says what is wrong, and what to enter', async () => {
    stage.credential = { baseUrl: 'http://conversations.example.com', apiKey: 'k' };
    expect((await failureOf(trigger().production.activate())).message).toMatch(
      /^The base URL must begin with https:.* not a local host. Over http:/,
    );
  });

  it('with an error of the service: nothing is left, nothing is stored, and the next try succeeds', async () => {
    const { production: side } = trigger();
    stage.wire.refuses = (method) => (method === 'PUT' ? 500 : undefined);
    expect(await failureOf(side.activate())).toMatchObject({
      name: 'NodeApiError',
      httpCode: '500',
    });
    expect(await tools()).toEqual([]);
    expect(stored(side)).toEqual({});
    expect(await side.delete()).toBe(true);
    stage.wire.refuses = undefined;
    await side.activate();
    await untilLive();
  });

  it('with an error of the service, and a tool that was live: it is not half changed', async () => {
    const made = await published();
    const before = await theTool();
    change(made, { toolDescription: 'Else.' });
    stage.wire.refuses = (method) => (method === 'PUT' ? 500 : undefined);
    expect(await failureOf(made.production.create())).toMatchObject({ httpCode: '500' });
    expect(await theTool()).toEqual(before);
    stage.wire.refuses = undefined;
    await made.production.activate();
    await untilLive();
    expect(await theTool()).toMatchObject({ description: 'Else.' });
  });

  it('at the test call: the tool stays a draft with the reason, until it is published again', async () => {
    const { production: side } = trigger();
    const { startExecution } = side;
    answerWith(side, 422, { message: 'There is no such order' });
    await side.activate();
    expect(await untilTested()).toMatchObject({
      status: 'draft',
      last_test: { succeeded: false, error: expect.stringContaining('There is no such order') },
    });
    expect(side.executions).toHaveLength(1);
    side.startExecution = startExecution;
    await side.activate();
    await untilLive();
  });

  it('at the test call, because the workflow fails: it runs once although the service calls it three times', async () => {
    const { production: side } = trigger();
    answerWith(side, 500, { message: 'Error in workflow' });
    await side.activate();
    expect(await untilTested()).toMatchObject({ status: 'draft', last_test: { succeeded: false } });
    expect(await newestCall()).toMatchObject({ attempts: 3, http_status: 500 });
    expect(side.executions).toHaveLength(1);
  });
});
