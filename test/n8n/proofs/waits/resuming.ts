import { afterAll, describe, expect, it } from '@jest/globals';
import type { Stage } from '../../stage.ts';
import { startHeldWire, type HeldWire } from './heldWire.ts';
import { askUntilApproved, waitActors } from './waitActors.ts';
import { withWorkflow } from '../withWorkflow.ts';

/** An execution goes on once, with its own answer, whenever that comes. */
export function provesResuming(stage: () => Stage): void {
  const { openWait, wait, decide, untilResting, output, untilAttempts } = waitActors(stage);

  describe('an execution that waits for the team', () => {
    let wire: HeldWire;
    const connect = async () => {
      wire = await startHeldWire(stage().service.url);
      const { apiKey } = stage().service;
      const data = { baseUrl: wire.url, apiKey };
      return await stage().n8n.createCredential('conversationServiceApi', data, 'Watched');
    };
    const workflow = withWorkflow(stage, askUntilApproved, {}, connect);
    afterAll(() => wire?.close());

    it('loses no decision that is made right before it rests', async () => {
      let firstStatus: number | null | undefined;
      wire.holdAnswers(async ({ method, path, answered }) => {
        if (method !== 'POST' || path !== '/api/waits') return;
        const { id } = answered as { id: string };
        await decide(id, true);
        const [first] = await untilAttempts(id, 1);
        firstStatus = first!.status;
      });
      const { conversationId } = await stage().customerWrites('Decided at once');
      expect(await output(workflow(), conversationId)).toMatchObject({ data: { approved: true } });
      expect(firstStatus).toBe(409);
    });

    it('goes on from a second wait of the same node with the decision of that wait alone', async () => {
      const asked: { id: string; resumeUrl: string }[] = [];
      wire.holdAnswers(async ({ method, path, sent, answered }) => {
        if (method === 'POST' && path === '/api/waits')
          asked.push({ id: answered.id as string, resumeUrl: sent.resume_url as string });
      });
      const resume = async (url: string, body: unknown) => {
        const { pathname, search } = new URL(url);
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
      const { resumeUrl } = asked[0]!;
      expect(asked[1]!.resumeUrl).toBe(resumeUrl);
      await untilResting(workflow());

      // A call for the first wait, one that pretends to decide and one to a changed address: the
      // execution still rests.
      expect((await resume(resumeUrl, { wait_id: first.id })).status).toBe(409);
      expect((await resume(resumeUrl, { wait_id: second.id, approved: true })).status).toBe(409);
      const tamperedUrl = `${resumeUrl.slice(0, -1)}0?approved=true`;
      expect((await resume(tamperedUrl, { wait_id: second.id })).status).toBe(401);
      await untilResting(workflow());

      await decide(second.id, true, 'That one');
      expect(await output(workflow(), conversationId)).toMatchObject({
        data: { approved: true, note: 'That one' },
        wait_id: second.id,
      });
      // n8n answers with a page that says the execution has ended.
      expect((await resume(resumeUrl, { wait_id: second.id })).status).toBe(200);
      expect(await stage().executionsOf(workflow(), conversationId)).toHaveLength(1);
      expect((await wait(first.id)).resume.state).toBe('done');
    });
  });
}
