import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Stage } from '../stage.ts';
import { makeChain, MANUAL_TRIGGER, SEND_MESSAGE } from './chain.ts';
import type { Editor } from './editor.ts';

/** A conversation is chosen from a list whose entries a person can tell apart. */
export function provesConversationList(stage: () => Stage, editor: () => Editor): void {
  describe('choosing a conversation', () => {
    let ids: string[];
    beforeAll(async () => {
      const open = async (name: string, email: string) =>
        (await stage().customerWrites('Hello', { name, email })).conversationId;
      ids = [
        await open('Grace Hopper', 'grace@example.com'),
        await open('Grace Hopper', 'hopper@example.com'),
      ];
      const conversationId = { __rl: true, mode: 'list', value: '' };
      const send = { ...SEND_MESSAGE, parameters: { ...SEND_MESSAGE.parameters, conversationId } };
      await editor().open(await makeChain(stage(), 'A list', MANUAL_TRIGGER, send));
      await editor().openNode('Send');
    });

    it('shows the customer, the time, who is in control and the channel of each', async () => {
      const entries = await editor().listOf('conversationId', 'Grace');
      await editor().screenshot('n8n-conversation-list');
      expect(new Set(entries).size).toBe(2);
      for (const entry of entries)
        expect(entry).toMatch(
          /^Grace Hopper · .*@.* · \d+ \w+, \d\d:\d\d · With the Agent · Web Chat$/,
        );
    });

    it('gives a link to the page of the chosen conversation', async () => {
      expect(await editor().linkOfFirst('conversationId')).toBe(
        `${stage().service.url}/conversations/${ids[1]}`,
      );
      await editor().closeNode();
    });
  });
}
