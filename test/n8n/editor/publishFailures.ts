import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { signedInBrowser, type Browserless } from '../../helpers/browserless.ts';
import type { Stage } from '../stage.ts';
import { CALL_TRIGGER, EVENT_TRIGGER, makeChain, type ChainNode } from './chain.ts';
import type { Editor } from './editor.ts';

const ANOTHER_N8N = { instance_id: 'other', node_id: 'node', host: 'n8n.other.example' };

/** When a workflow cannot be published, n8n's toast says what to do about it. */
export function provesPublishFailures(stage: () => Stage, editor: () => Editor): void {
  const api = () => stage().service.api;
  const failure = async (name: string, trigger: ChainNode) => {
    await editor().open(await makeChain(stage(), name, trigger));
    await editor().publish();
    return await editor().failure();
  };
  const testFailure = async (name: string, trigger: ChainNode) => {
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
      const n8nRuns = (where: Record<string, string>) => ana.post('/settings/n8n', where);
      beforeAll(() => n8nRuns({ n8n: 'public' }));
      afterAll(() => n8nRuns({ n8n: 'this_machine', n8n_port: String(stage().n8n.port) }));

      it('leads to the setting of the service', async () => {
        const toast = await failure('Not reachable', EVENT_TRIGGER);
        expect(toast).toContain(`Choose where n8n runs under Settings of the service`);
        expect(toast).toContain(`${stage().service.url}/settings`);
        expect(toast).not.toMatch(/target_url|<br/);
      });
    });

    describe('at the limit of subscriptions', () => {
      const made: string[] = [];
      beforeAll(async () => {
        const { data } = (await api().get('/api/hooks?limit=200')).body as { data: unknown[] };
        for (let number = data.length; number < 25; number++) {
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
          made.push(body.id as string);
        }
      });
      afterAll(async () => {
        for (const id of made) await api().delete(`/api/hooks/${id}`);
      });

      it('names the workflows that hold them', async () => {
        const toast = await testFailure('One too many', EVENT_TRIGGER);
        expect(toast).toMatch(/n8n\.other\.example: ("Orders \d+"(, )?){3,5} and \d+ more\./);
        expect(toast.match(/unpublish a workflow/gi)).toHaveLength(1);
      });
    });

    describe('of a tool that another n8n has published', () => {
      beforeAll(async () => {
        const { n8n, until } = stage();
        const parameters = { httpMethod: 'POST', path: 'hello' };
        const answering = { name: 'Answer', type: 'n8n-nodes-base.webhook', parameters };
        await n8n.activate((await makeChain(stage(), 'Hello', answering)).id);
        const endpoint = `http://localhost:${n8n.port}/webhook/hello`;
        await until(
          'the webhook',
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
        const toast = await failure('A second Hello', CALL_TRIGGER);
        expect(toast).toContain('the workflow "Hello" of the n8n at n8n.other.example');
        expect(toast).toContain('Take Over From Another n8n');
      });
    });
  });
}
