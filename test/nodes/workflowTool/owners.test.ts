import { describe, expect, it } from '@jest/globals';
import { failureOf, TOOL_TRIGGER } from '../helpers/n8n.ts';
import {
  call,
  change,
  define,
  elsewhere,
  untilLive,
  PARAMETERS,
  published,
  stage,
  stored,
  theTool,
  trigger,
} from '../helpers/toolStage.ts';
import { answerWith, type TriggerOptions } from '../helpers/webhookHost.ts';

describe('A tool that somebody else has published', () => {
  it('moves to another host, as after a change of WEBHOOK_URL, with the option to take over', async () => {
    const options: Partial<TriggerOptions> = { nodeId: 'node', workflowId: 'workflow' };
    await published({}, options);
    const { id } = await theTool();
    const moved = await stage.startOtherHost();
    const made = moved.addTrigger({ type: TOOL_TRIGGER, parameters: PARAMETERS, ...options });
    const { production: side } = made;
    answerWith(side, 200, {});
    expect(await failureOf(side.activate())).toMatchObject({
      httpCode: '409',
      message: expect.stringContaining(`of the n8n at ${new URL(stage.host.url).host}`),
    });
    change(made, { options: { takeOver: true } });
    await side.activate();
    await untilLive();
    expect(await theTool()).toMatchObject({ id, endpoint: side.url });
    expect(side.executions).toHaveLength(1);
  });

  it.each(['live', 'paused', 'draft'] as const)(
    'takes over a %s tool of its own address when the static data was lost',
    async (status) => {
      const made = await published();
      const tool = await theTool();
      if (status === 'paused') await stage.service.api.post(`/api/tools/${tool.id}/pause`);
      if (status === 'draft')
        await stage.service.api.patch(`/api/tools/${tool.id}`, { parameters: {} });
      made.production.staticData = {};
      await made.production.activate();
      await untilLive();
      expect(await theTool()).toMatchObject({ id: tool.id, endpoint: made.production.url });
      expect(await call()).toMatchObject({ status: 'succeeded' });
    },
  );

  it('takes over a tool of another address that is not live, with a secret of its own', async () => {
    const other = await define('find_order', elsewhere());
    const { production: side } = await published();
    expect(await theTool()).toMatchObject({ id: other.id, endpoint: side.url });
    expect(stored(side).secret).not.toBe(other.secret);
    expect(await call()).toMatchObject({ status: 'succeeded' });
  });

  it('says which workflow has published the name, and leaves its tool alone', async () => {
    await published();
    const tool = await theTool();
    const second = trigger();
    expect(await failureOf(second.production.activate())).toMatchObject({
      name: 'NodeApiError',
      message: expect.stringMatching(
        /published by the workflow "Test" of the n8n at \S+\. Choose another name\..*"Take Over From Another n8n"/,
      ),
    });
    // n8n calls delete after a create that failed.
    expect(await second.production.delete()).toBe(true);
    expect(await theTool()).toEqual(tool);
    expect(stored(second.production)).toEqual({});
  });

  it('says so when the name belongs to an HTTP tool', async () => {
    await stage.service.api.post('/api/tools', {
      name: 'find_order',
      description: 'By HTTP.',
      kind: 'HTTP',
      request_template: { method: 'GET', url: `${stage.host.url}/orders` },
    });
    expect(await failureOf(trigger().production.activate())).toMatchObject({
      name: 'NodeApiError',
      message: expect.stringMatching(
        /^The name find_order belongs to an HTTP tool. Enter another "Tool Name"/,
      ),
    });
    expect(await theTool()).toMatchObject({ kind: 'HTTP', description: 'By HTTP.' });
  });

  it('lets two copies of a workflow take turns', async () => {
    const original = await published();
    await original.production.deactivate();
    const copy = await published();
    await copy.production.deactivate();
    // The copy's secret replaced the original's, which n8n still holds when the service calls.
    await original.production.activate();
    await untilLive();
    expect(await theTool()).toMatchObject({ endpoint: original.production.url });
    expect(await call()).toMatchObject({ status: 'succeeded' });
    // A late delete of the copy leaves the tool alone, which belongs to the original by now.
    expect(await copy.production.delete()).toBe(true);
    expect(await theTool()).toMatchObject({ status: 'live' });
  });
});
