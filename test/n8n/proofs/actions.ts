import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startWire, type Wire } from '../../nodes/helpers/strangers.ts';
import type { Workflow } from '../n8nServer.ts';
import { ownWorkflow, type Stage } from '../stage.ts';
import { withWorkflow } from './withWorkflow.ts';

const LINKS = 205;

/** What the action node reads and writes, with its defaults and the items that n8n passes on. */
export function provesActions(stage: () => Stage): void {
  describe('the action node', () => {
    provesRoundTrip(stage);
    provesPages(stage);
  });
}

function provesRoundTrip(stage: () => Stage): void {
  describe('contacts, messages, notes and the agent', () => {
    const workflow = withWorkflow(stage, ownWorkflow('from-node-to-node'));

    it('go from node to node, each finding its conversation or contact by itself', async () => {
      const { conversationId, read } = await stage().customerWrites('Where is my parcel?', {
        name: 'Ana',
        email: 'ana@example.com',
      });
      const { error, output } = await stage().execution(
        workflow(),
        'message.received',
        conversationId,
      );
      expect(error).toBeUndefined();
      expect(output['Create Note']).toEqual([
        expect.objectContaining({
          conversation_id: conversationId,
          text: 'Wrote: Where is my parcel?',
        }),
      ]);
      expect(output['Get Contact']).toEqual([
        expect.objectContaining({ name: 'Ana', email_masked: expect.stringContaining('•') }),
      ]);
      expect(output['Get Many Conversations']!.map(({ id }) => id)).toEqual([conversationId]);
      expect(output['Send Message']![0]).toMatchObject({ conversation: { status: 'ai_active' } });
      expect(output['Get Many Messages']!.map(({ text }) => text)).toEqual([
        'Where is my parcel?',
        'Your parcel has shipped',
      ]);
      expect(output['Turn On Agent']).toEqual([expect.objectContaining({ enabled: true })]);
      expect(output['Turn Off Agent']).toEqual([expect.objectContaining({ enabled: false })]);
      expect((await stage().service.api.get('/api/agent')).body.enabled).toBe(false);
      expect((await read()).map(({ text }) => text)).not.toContain('Wrote: Where is my parcel?');
    });
  });
}

function provesPages(stage: () => Stage): void {
  describe('Get Many', () => {
    let wire: Wire;
    let workflow: Workflow;
    beforeAll(async () => {
      const { n8n, service } = stage();
      await service.api.put('/api/payment-accounts/manual', {
        settings: { instructions: 'Transfer to DE00.' },
      });
      wire = await startWire(() => service.url);
      const credential = await n8n.createCredential(
        'conversationServiceApi',
        { baseUrl: wire.url, apiKey: service.apiKey },
        'Through a wire',
      );
      workflow = await stage().run(ownWorkflow('many-pages'), {}, credential);
    });
    afterAll(async () => {
      await stage().retire(workflow);
      await stage().service.api.delete('/api/payment-accounts/manual');
      await wire.close();
    });

    it('with Return All reads each page once, and with a limit no more than it needs', async () => {
      const { conversationId, write } = await stage().customerWrites('Hello');
      await stage().execution(workflow, 'message.received', conversationId);
      for (let n = 0; n < LINKS; n++) {
        const { status } = await stage().service.api.post(
          `/api/conversations/${conversationId}/payment-links`,
          { amount: 100 + n, currency: 'usd', description: 'One of many' },
        );
        expect(status).toBe(201);
      }
      wire.seen.length = 0;
      await write('How many are there?');
      const { output } = await stage().until('the second execution', async () => {
        const found = await stage().executionsOf(workflow, conversationId);
        return found.length === 2 && found[1]!.output['Get Some Payment Links'] && found[1]!;
      });
      const all = output['Get Many Payment Links']!;
      expect(new Set(all.map(({ id }) => id)).size).toBe(LINKS);
      expect(all).toHaveLength(LINKS);
      expect(output['Get Some Payment Links']).toHaveLength(203);
      // Two pages for Return All, then two for the workflow's limit of 203.
      const limits = wire.seen
        .filter(({ path }) => path.startsWith('/api/payment-links'))
        .map(({ path }) => new URL(path, wire.url).searchParams.get('limit'));
      expect(limits).toEqual(['200', '200', '200', '3']);
    });
  });
}
