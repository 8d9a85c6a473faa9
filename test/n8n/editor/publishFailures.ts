import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_SUBSCRIPTIONS } from '../../../service/src/deliveries/subscription.ts';
import { signedInBrowser, type Browserless } from '../../helpers/browserless.ts';
import type { Stage } from '../stage.ts';
import { CALL_TRIGGER, EVENT_TRIGGER, makeChain, type ChainNode } from './chain.ts';
import type { Editor } from './editor.ts';

const ANOTHER_N8N = { instance_id: 'other', node_id: 'node', host: 'n8n.other.example' };

/** When a workflow cannot be published or tested, n8n's toast says what to do about it. */
export function provesPublishFailures(stage: () => Stage, editor: () => Editor): void {
  const api = () => stage().service.api;
  const publishFailure = async (name: string, trigger: ChainNode) => {
    await editor().open(await makeChain(stage(), name, trigger));
    await editor().publish();
    return await editor().failure();
  };
  const listenFailure = async (name: string, trigger: ChainNode) => {
    await editor().open(await makeChain(stage(), name, trigger));
    await editor().openNode(trigger.name);
    await editor().executeStep();
    return await editor().failure();
  };

  describe('publishing or listening that fails', () => {
    let ana: Browserless;
    beforeAll(async () => {
      ana = await signedInBrowser(stage().service.url);
    });

    describe('while the service may not call n8n', () => {
      const saveN8nSetting = (where: Record<string, string>) => ana.post('/settings/n8n', where);
      beforeAll(() => saveN8nSetting({ n8n: 'public' }));
      afterAll(() => saveN8nSetting({ n8n: 'this_machine', n8n_port: String(stage().n8n.port) }));

      it('leads to the setting of the service', async () => {
        const toast = await publishFailure('Not reachable', EVENT_TRIGGER);
        expect(toast).toContain(`Choose where n8n runs under Settings of the service`);
        expect(toast).toContain(`${stage().service.url}/settings`);
        expect(toast).not.toMatch(/target_url|<br/);
      });
    });

    describe('at the limit of subscriptions', () => {
      const createdIds: string[] = [];
      beforeAll(async () => {
        const { data } = (await api().get('/api/hooks?limit=200')).body as { data: unknown[] };
        for (let number = data.length; number < MAX_SUBSCRIPTIONS; number++) {
          const { status, body } = await api().post('/api/hooks', {
            event: 'message.received',
            target_url: `http://localhost:${stage().n8n.port}/${number}`,
            source: 'n8n',
            owner: {
              ...ANOTHER_N8N,
              workflow_id: `orders-${number}`,
              workflow_name: `Orders ${number}`,
            },
          });
          expect(status).toBe(201);
          createdIds.push(body.id as string);
        }
      });
      afterAll(async () => {
        for (const id of createdIds) await api().delete(`/api/hooks/${id}`);
      });

      it('names some of the workflows that hold them, and how many more there are', async () => {
        const toast = await listenFailure('One too many', EVENT_TRIGGER);
        expect(toast).toMatch(/n8n\.other\.example: ("Orders \d+"(, )?){3,5} and \d+ more\./);
        expect(toast.match(/unpublish a workflow/gi)).toHaveLength(1);
      });
    });

    describe('of a tool that another n8n has published', () => {
      beforeAll(async () => {
        const { n8n, until } = stage();
        const parameters = { httpMethod: 'POST', path: 'hello' };
        const webhook = { name: 'Answer', type: 'n8n-nodes-base.webhook', parameters };
        await n8n.activate((await makeChain(stage(), 'Hello', webhook)).id);
        const endpoint = `http://localhost:${n8n.port}/webhook/hello`;
        await until(
          'the webhook to answer',
          async () => (await n8n.call('POST', '/webhook/hello')).status === 200,
        );
        const { body } = await api().put('/api/tools/published/say_hello', {
          definition: { description: 'Says hello', parameters: { type: 'object' }, endpoint },
          owner: { ...ANOTHER_N8N, workflow_id: 'hello', workflow_name: 'Hello' },
        });
        await until(
          'the tool to be live',
          async () => (await api().get(`/api/tools/${String(body.id)}`)).body.status === 'live',
        );
      });

      it('names its holder and the option for an n8n that was moved', async () => {
        const toast = await publishFailure('A second Hello', CALL_TRIGGER);
        expect(toast).toContain('the workflow "Hello" of the n8n at n8n.other.example');
        expect(toast).toContain('Take Over From Another n8n');
      });
    });
  });
}
