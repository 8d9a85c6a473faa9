import { afterAll, describe, expect, it } from '@jest/globals';
import type { Stage } from '../../stage.ts';
import { startHeldWire } from './heldWire.ts';
import { askUntilApproved, waitActors } from './waitActors.ts';
import { withWorkflow } from '../withWorkflow.ts';

/** An execution goes on once, with its own answer, whenever that comes. */
export function provesResuming(stage: () => Stage): void {
  const { openWait, wait, decide, untilResting, output, attempts } = waitActors(stage);

  describe('on a line that is watched', () => {
    let wire: Awaited<ReturnType<typeof startHeldWire>>;
    const connect = async () => {
      wire = await startHeldWire(stage().service.url);
      const { apiKey } = stage().service;
      const data = { baseUrl: wire.url, apiKey };
      return await stage().n8n.createCredential('conversationServiceApi', data, 'Watched');
    };
    const workflow = withWorkflow(stage, askUntilApproved, {}, connect);
    afterAll(() => wire?.close());

    it('a decision in the moment before the execution rests is not lost', async () => {
      let before: number | null | undefined;
      wire.holdAnswers(async ({ method, path, answered }) => {
        if (method !== 'POST' || path !== '/api/waits') return;
        const { id } = answered as { id: string };
        await decide(id, true);
        const [first] = await attempts(id, 1);
        before = first!.status;
      });
      const { conversationId } = await stage().customerWrites('Decided at once');
      expect(await output(workflow(), conversationId)).toMatchObject({ data: { approved: true } });
      expect(before).toBe(409);
    });

    it('a second wait in the same node gets its own decision, and the first one again does nothing', async () => {
      const asked: { id: string; resumeUrl: string }[] = [];
      wire.holdAnswers(async ({ method, path, sent, answered }) => {
        if (method === 'POST' && path === '/api/waits')
          asked.push({ id: answered.id as string, resumeUrl: sent.resume_url as string });
      });
      const resumeAgain = async (nth: number, body: unknown) => {
        const { pathname, search } = new URL(asked[nth]!.resumeUrl);
        return await stage().n8n.call('POST', pathname + search, {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      };
      const { conversationId } = await stage().customerWrites('Twice');
      const first = await openWait(conversationId);
      await decide(first.id, false, 'Which order?');
      const second = await openWait(conversationId);
      expect(asked.map(({ id }) => id)).toEqual([first.id, second.id]);
      expect(asked[0]!.resumeUrl).toBe(asked[1]!.resumeUrl);
      await untilResting(workflow());

      // Late, tampered with, or pretending: the execution rests.
      expect((await resumeAgain(0, { wait_id: first.id })).status).toBe(409);
      expect((await resumeAgain(1, { wait_id: second.id, approved: true })).status).toBe(409);
      asked.push({ id: '', resumeUrl: `${asked[1]!.resumeUrl.slice(0, -1)}0?approved=true` });
      expect((await resumeAgain(2, { wait_id: second.id })).status).toBe(401);
      await untilResting(workflow());

      await decide(second.id, true, 'That one');
      expect(await output(workflow(), conversationId)).toMatchObject({
        data: { approved: true, note: 'That one' },
        wait_id: second.id,
      });
      // n8n answers with a page that nothing is left to do.
      expect((await resumeAgain(0, { wait_id: second.id })).status).toBe(200);
      expect(await stage().executionsOf(workflow(), conversationId)).toHaveLength(1);
      expect((await wait(first.id)).resume.state).toBe('done');
    });
  });
}
