import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Stage } from '../stage.ts';
import type { Editor, NodeActions } from './editor.ts';

/** The node search shows everything that we offer, under names that nobody confuses. */
export function provesNodeSearch(stage: () => Stage, editor: () => Editor): void {
  describe('the node search', () => {
    let found: readonly string[];
    let shown: NodeActions;
    beforeAll(async () => {
      await editor().newWorkflow();
      found = await editor().search('Conversation Service');
      shown = await editor().actionsOf('Conversation Service');
    });

    it('shows events and actions in one entry, and each trigger for the agent in its own', () => {
      expect(found).toEqual([
        'Conversation Service',
        'Conversation Service Agent Trigger',
        'Conversation Service Agent Call Trigger',
      ]);
    });

    it('shows each event of the service as a trigger', async () => {
      const { data } = (await stage().service.api.get('/api/hooks/events')).body as {
        data: { name: string }[];
      };
      const titles = data.map(({ name }) => `On ${name.replaceAll(/[._]/g, ' ')}`);
      expect([...shown.triggers].sort()).toEqual(titles.sort());
    });

    it('names no action with an article', () => {
      expect(shown.actions.length).toBeGreaterThan(30);
      expect(shown.actions.filter((name) => /\b(a|an|the)\b/i.test(name))).toEqual([]);
    });
  });
}
