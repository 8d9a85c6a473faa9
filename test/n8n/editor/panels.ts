import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Stage } from '../stage.ts';
import {
  AGENT_TRIGGER,
  CALL_TRIGGER,
  EVENT_TRIGGER,
  GET_CONVERSATION,
  makeChain,
  MANUAL_TRIGGER,
  REPLY,
  SEND_MESSAGE,
} from './chain.ts';
import type { Editor } from './editor.ts';

/** The panels of our nodes are short and use n8n's words. */
export function provesPanels(stage: () => Stage, editor: () => Editor): void {
  describe('the panel of a node', () => {
    beforeAll(async () => {
      const events = { ...EVENT_TRIGGER, parameters: { events: ['message.sent'] } };
      await editor().open(await makeChain(stage(), 'Panels', events, SEND_MESSAGE));
    });

    /** Opens a node's panel, checks that it is brief, and closes it. @returns its notices */
    const noticesOfBriefPanel = async (name: string) => {
      const { page, node } = editor();
      await editor().openNode(name);
      const notices = await editor().notices();
      const text = await node.innerText();
      expect(notices.length).toBeLessThanOrEqual(2);
      expect(notices.filter((notice) => notice.length > 160)).toEqual([]);
      expect(text).not.toMatch(/<br|Listen for test event/i);
      await node.getByRole('button', { name: 'Execute step' }).first().waitFor();
      await editor().closeNode();
      await page.getByTestId('canvas-wrapper').waitFor();
      return notices;
    };

    it('of the event trigger for message.sent has one notice', async () => {
      expect(await noticesOfBriefPanel('Events')).toHaveLength(1);
    });

    it('of Send Message has one notice, about the agent', async () => {
      expect(await noticesOfBriefPanel('Send')).toEqual([expect.stringContaining('agent')]);
    });

    it('of the agent call trigger has two notices at most', async () => {
      await editor().open(await makeChain(stage(), 'Tool panel', CALL_TRIGGER));
      await noticesOfBriefPanel('Tool');
    });

    it('says nothing of parameters filled by AI after that trigger has run', async () => {
      await editor().openNode('Tool');
      await editor().executeStep();
      await editor().output.getByText('say_hello').first().waitFor();
      expect(await editor().output.innerText()).not.toContain('filled by AI');
      await editor().closeNode();
    });

    it('of the agent trigger says that it turns the agent on, and that of Reply when it fails', async () => {
      await editor().open(await makeChain(stage(), 'Agent panel', AGENT_TRIGGER, REPLY));
      expect(await noticesOfBriefPanel('Turns')).toEqual([
        expect.stringContaining('turns the agent on'),
        expect.stringContaining('chatInput'),
      ]);
      expect(await noticesOfBriefPanel('Answer')).toEqual([
        expect.stringContaining('turn_superseded'),
      ]);
    });

    it('shows the fields of an action before its first run', async () => {
      const chain = [MANUAL_TRIGGER, GET_CONVERSATION, SEND_MESSAGE];
      await editor().open(await makeChain(stage(), 'Fields', ...chain));
      await editor().openNode('Send');
      await editor().input.getByText('funnel_stage').first().waitFor();
      await editor().closeNode();
    });
  });
}
