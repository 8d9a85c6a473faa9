import { describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { callIn } from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { call, published, stage } from '../helpers/toolStage.ts';
import { answerWith } from '../helpers/webhookHost.ts';

describe('A published tool, with the agent of the real service,', () => {
  it('is called with what a customer wrote, and its answer is on record', async () => {
    const { production: side } = await published({ readOnly: true });
    await stage.service.api.patch('/api/agent', { enabled: true });
    const { conversation_id: id } = await (
      await chatCustomer(stage.service.url)
    ).write('Please find my order A-1042');
    await waitFor('the call', () => side.executions.length === 2);
    expect(side.executions[1]).toEqual({
      tool_call_id: expect.stringMatching(/^call_/),
      tool: 'find_order',
      arguments: { order_number: expect.stringContaining('A-1042') },
      args: expect.anything(),
      conversation_id: id,
    });
    const record = await callIn(stage.service.api, `conversation_id=${id}`, 'succeeded');
    expect(record).toMatchObject({ attempts: 1, result: { found: true } });
  });

  it('runs once and succeeds although the first attempt timed out', async () => {
    const { production: side } = await published({ timeout: 1 });
    side.startExecution = async (json, res) => {
      side.executions.push(json);
      // The call of the publication, and both attempts of this call.
      await waitFor('the second attempt', () => side.calls === 3);
      res.status(200).json({ slow: true });
    };
    expect(await call()).toMatchObject({
      status: 'succeeded',
      attempts: 2,
      result: { slow: true },
    });
    expect(side.executions).toHaveLength(2);
  });

  it('fails when the workflow ends without responding', async () => {
    const { production: side } = await published({ responseMode: 'responseNode' });
    answerWith(side, 200, undefined);
    expect(await call()).toMatchObject({
      status: 'failed',
      error: { type: 'invalid_response', message: expect.stringContaining('empty body') },
    });
  });

  it('is accepted at once in a form that the service takes', async () => {
    const { production: side } = await published({ responseMode: 'onReceived' });
    expect(await call()).toMatchObject({ status: 'succeeded', result: { status: 'accepted' } });
    expect(side.executions).toHaveLength(2);
  });
});
