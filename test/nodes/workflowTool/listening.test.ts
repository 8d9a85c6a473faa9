import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import { failureOf, listenToLog } from '../helpers/n8n.ts';
import { freeAddress } from '../helpers/strangers.ts';
import {
  requestsTo,
  define,
  elsewhere,
  untilLive,
  toolNamed,
  published,
  stage,
  stored,
  theTool,
  tools,
  trigger,
} from '../helpers/toolStage.ts';
import type { Side } from '../helpers/webhookHost.ts';

const log = listenToLog();

describe('Listening for a test event', () => {
  it('registers a draft under the test name, is called with the sample, and removes it', async () => {
    const { test } = trigger({
      askBeforeRunning: true,
      sampleArguments: '{"order_number":"A-1042"}',
    });
    await test.activate();
    expect(await theTool()).toMatchObject({
      name: 'find_order_test',
      status: 'draft',
      endpoint: test.url,
      ask_before_running: false,
    });
    await waitFor('the call', () => test.executions.length > 0);
    expect(test.executions).toEqual([
      {
        tool_call_id: expect.stringMatching(/^call_/),
        tool: 'find_order',
        arguments: { order_number: 'A-1042' },
        args: { order_number: 'A-1042' },
        conversation_id: 'conv_test',
        is_test: true,
      },
    ]);
    await waitFor('its end', async () => (await theTool()).last_test);
    expect(await theTool()).toMatchObject({ status: 'draft' });
    expect(await test.deactivate()).toBe(true);
    expect(await tools()).toEqual([]);
    expect(test.staticData['node:Trigger']).toEqual({});
  });

  it('never touches the published tool', async () => {
    const made = await published();
    const before = await theTool();
    await made.test.activate();
    await waitFor('the call', () => made.test.executions.length > 0);
    expect(await toolNamed('find_order')).toEqual(before);
    await made.test.deactivate();
    expect(await theTool()).toEqual(before);
    expect(made.production.executions).toHaveLength(1);
  });

  it('is not touched by publishing and unpublishing', async () => {
    const made = trigger({ options: { sendTestCall: false } });
    await made.test.activate();
    const draft = await theTool();
    await made.production.activate();
    await untilLive();
    await made.production.deactivate();
    expect(await toolNamed('find_order_test')).toEqual(draft);
  });

  it('leaves the published tool alone when the static data was lost', async () => {
    const made = await published();
    const before = await theTool();
    await made.test.activate();
    made.test.staticData = {};
    expect(await made.test.delete()).toBe(true);
    expect(await theTool()).toEqual(before);
  });

  it('makes no test call when the option is off', async () => {
    const quiet = trigger({ options: { sendTestCall: false } });
    const asked = trigger({ toolName: 'other' });
    await quiet.test.activate();
    await asked.test.activate();
    await waitFor('the call of the one that asked', () => asked.test.executions.length > 0);
    expect(requestsTo(`${stored(quiet.test).draftId}/test`)).toEqual([]);
    expect(quiet.test.executions).toEqual([]);
  });

  it('is called again when n8n did not know the secret yet', async () => {
    const { test } = trigger();
    await test.activate();
    const known = test.staticData;
    // The first read finds nothing: n8n has not saved the secret yet.
    const reads: object[] = [];
    Object.defineProperty(test, 'staticData', {
      get: () => (reads.push(known) === 1 ? {} : known),
    });
    await waitFor('the call', () => test.executions.length > 0);
    expect(reads).toHaveLength(2);
    expect(test.executions).toHaveLength(1);
  });

  it('that is stopped before the call leaves only a warning in the log', async () => {
    const { test } = trigger();
    await test.activate();
    await test.deactivate();
    await waitFor('the warning', () => log.warnings.length > 0);
    expect(log.warnings).toEqual([expect.stringMatching(/^No test call was made/)]);
    expect(log.errors).toEqual([]);
  });

  it.each<[string, (test: Side) => string]>([
    ['this address', (test) => test.url],
    ['another test address', () => `${stage.host.url}/webhook-test/another/tool`],
    ['another host', (test) => test.url.replace('localhost', '127.0.0.1')],
  ])('removes what an earlier listening at %s left behind', async (_what, address) => {
    const { test } = trigger({ options: { sendTestCall: false } });
    const left = await define('find_order_test', address(test));
    await test.activate();
    expect((await theTool()).id).not.toBe(left.id);
    expect((await theTool()).id).toBe(stored(test).draftId);
  });

  it('refuses a test name that belongs to another tool, and leaves that alone', async () => {
    const other = await define('find_order_test', elsewhere());
    const { test } = trigger();
    expect(await failureOf(test.activate())).toMatchObject({
      name: 'NodeOperationError',
      message: expect.stringMatching(
        /"find_order_test", which belongs to another tool.*Enter another "Tool Name"/,
      ),
    });
    expect(await test.delete()).toBe(true);
    expect((await theTool()).id).toBe(other.id);
  });

  it('removes its draft also when the static data was lost, and tolerates what is gone', async () => {
    const { test } = trigger({ options: { sendTestCall: false } });
    await test.activate();
    test.staticData = {};
    expect(await test.delete()).toBe(true);
    expect(await tools()).toEqual([]);
    expect(await test.delete()).toBe(true);
    await test.activate();
    await stage.service.api.delete(`/api/tools/${stored(test).draftId}`);
    expect(await test.delete()).toBe(true);
  });

  it('does not throw when the service cannot be reached at the end', async () => {
    const { test } = trigger({ options: { sendTestCall: false } });
    await test.activate();
    stage.credential = { baseUrl: await freeAddress(), apiKey: 'k' };
    expect(await test.delete()).toBe(false);
    expect(stored(test)).toEqual({});
  });

  it('says what is wrong with the sample of a call that cannot be made', async () => {
    const { test } = trigger({ sampleArguments: '{"order_number":1}' });
    await test.activate();
    await waitFor('the log', () =>
      log.warnings.some((entry) =>
        /No test call was made.*order_number.*Sample Arguments/.test(entry),
      ),
    );
  });
});
