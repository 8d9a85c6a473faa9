import { describe, expect, it } from '@jest/globals';
import type { Workflow } from '../../n8nServer.ts';
import { eventsOf, payloadOf, recordEvents, type Stage } from '../../stage.ts';
import { withWorkflow } from '../withWorkflow.ts';

const MESSAGE_EVENTS = ['message.received', 'message.sent'];
/** Two rounds of: more events, unpublished and published, the first events, the same again. */
const PUBLICATIONS = 8;

/**
 * A published trigger has the one subscription that it asks for. What happens while it is edited
 * or unpublished is not lost.
 */
export function provesRepublishing(stage: () => Stage): void {
  /** Changes the trigger's events, which publishes an active workflow again. */
  const setEvents = ({ id }: Workflow, events: readonly string[]) =>
    stage().n8n.edit(id, { events });

  describe('publishing an edited workflow', () => {
    const workflow = withWorkflow(stage, recordEvents);

    it('changes the subscription to the chosen events, as a new revision under the same id', async () => {
      const before = await stage().subscriptionsOf(workflow());
      await setEvents(workflow(), MESSAGE_EVENTS);

      const after = await stage().untilReceiving(workflow(), MESSAGE_EVENTS, before);
      expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));

      const { conversationId, write } = await stage().customerWrites('After the edit');
      await write('And once more');
      await stage().service.api.post(`/api/conversations/${conversationId}/messages`, {
        text: 'Hello',
      });
      await stage().execution(workflow(), 'message.sent', conversationId);
      await stage().execution(workflow(), 'message.received', conversationId);
      const events = (await stage().executionsOf(workflow(), conversationId)).map(
        (each) => payloadOf(each)?.event,
      );
      expect(new Set(events)).toEqual(new Set(MESSAGE_EVENTS));
    });

    it('takes all six events again when it is unpublished, edited back and published', async () => {
      await stage().retire(workflow());
      await setEvents(workflow(), eventsOf(workflow()));
      await stage().n8n.activate(workflow().id);
      await stage().untilReceiving(workflow());
      const { conversationId } = await stage().customerWrites('All six again');
      await stage().execution(workflow(), 'conversation.opened', conversationId);
    });
  });

  describe('publishing again and again while events come', () => {
    const ONE = ['message.received'];
    const workflow = withWorkflow(stage, recordEvents, { events: ONE });

    it('starts one execution for each event, whenever it came', async () => {
      const { write, conversationId } = await stage().customerWrites('message 0');
      const written = ['message 0'];
      let isPublishing = true;
      const writing = (async () => {
        while (isPublishing) {
          const text = `message ${written.length}`;
          await write(text);
          written.push(text);
          // The rate of events, not a wait for anything.
          await new Promise((resolve) => setTimeout(resolve, 150));
        }
      })();

      try {
        for (let times = 0; times < PUBLICATIONS; times++) {
          const before = await stage().subscriptionsOf(workflow());
          if (times % 2 === 0) {
            const events = times % 4 === 0 ? MESSAGE_EVENTS : ONE;
            await setEvents(workflow(), events);
            await stage().untilReceiving(workflow(), events, before);
          } else {
            const events = before.flatMap((each) => each.events);
            await stage().n8n.deactivate(workflow().id);
            await stage().n8n.activate(workflow().id);
            await stage().untilReceiving(workflow(), events, before);
          }
        }
      } finally {
        isPublishing = false;
        await writing;
      }

      await stage().until(
        'no delivery to be pending',
        async () => {
          const [subscription] = await stage().subscriptionsOf(workflow());
          const path = `/api/hooks/${subscription!.id}/deliveries?status=pending`;
          return (await stage().service.api.get(path)).body.data.length === 0;
        },
        { timeoutMs: 120_000 },
      );
      const textsOf = async () => {
        const payloads = (await stage().executionsOf(workflow(), conversationId)).map(
          (each) => payloadOf(each)!,
        );
        return payloads.map(({ message }) => (message as { text: string }).text);
      };
      await stage().until(
        'an execution for each message',
        async () => new Set(await textsOf()).size === written.length,
        { timeoutMs: 120_000, everyMs: 1000 },
      );
      expect((await textsOf()).sort()).toEqual(written.sort());
    });
  });
}
