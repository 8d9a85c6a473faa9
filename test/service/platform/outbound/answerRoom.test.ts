// The memory for answers of outbound calls is shared: an answer that finds no room is read later,
// not lost.
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AnswerRoom } from '../../../../service/src/platform/outbound/answerRoom.ts';
import type { OutboundClient } from '../../../../service/src/platform/outbound/outboundClient.ts';
import { startTlsReceiver, type ReceivedRequest } from '../../../helpers/tls.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { closing, kindOf, localClient, toolCall } from './support.ts';

const ANSWER_BYTES = 256 * 1024;
/** Room for eight answers: one workspace has four. */
const PIECES = 128;
const PIECE_BYTES = 16 * 1024;

describe('room for outbound answers', () => {
  const { add, closeAll } = closing();
  const reached: string[] = [];
  let client: OutboundClient;
  let receiver: Awaited<ReturnType<typeof startTlsReceiver>>;
  beforeEach(async () => {
    reached.length = 0;
    client = add(
      await localClient({
        answerPieces: PIECES,
        bounds: { reached: (bound) => void reached.push(bound) },
      }),
    );
  });
  afterEach(closeAll);

  const answering = async (answer: (request: ReceivedRequest, response: ServerResponse) => void) =>
    (receiver = add(await startTlsReceiver(answer)));

  it.each([true, false])(
    'lets a few answers of one workspace be read at a time, each whole, and one of another workspace beside them (with content-length: %s)',
    async (isTold) => {
      const body = Buffer.alloc(ANSWER_BYTES, 'x');
      await answering((_request, response) => {
        response.writeHead(200, isTold ? { 'content-length': body.length } : {});
        response.end(body);
      });
      let [using, most] = [0, 0];
      const held: (() => void)[] = [];
      const call = (workspaceId: string) =>
        client.request(
          toolCall(receiver.url, { timeoutMs: 60_000, maxBytes: ANSWER_BYTES, workspaceId }),
          async (response) => {
            using += 1;
            most = Math.max(most, using);
            if (workspaceId === 'mine') await new Promise<void>((resolve) => held.push(resolve));
            using -= 1;
            return response.body.equals(body);
          },
        );
      const mine = Array.from({ length: 12 }, () => call('mine'));
      await waitFor('some to be read', () => using > 1 && reached.length > 0);
      expect(await call('theirs')).toBe(true);
      for (let ended = 0; ended < mine.length; ended += 1) {
        await waitFor('one to be read', () => held.length > 0);
        held.shift()!();
      }
      expect(await Promise.all(mine)).toEqual(mine.map(() => true));
      expect(most).toBeLessThanOrEqual(5);
      expect(new Set(reached)).toEqual(new Set(['workspace_answers']));
    },
    60_000,
  );

  it('is waited for until the deadline of the call only, and what the call took is given back', async () => {
    await answering((_request, response) => void response.end(Buffer.alloc(ANSWER_BYTES, 'x')));
    const letGo = Promise.withResolvers<undefined>();
    const call = toolCall(receiver.url, { workspaceId: 'mine' });
    let reading = 0;
    const holding = Array.from({ length: 4 }, () =>
      client.request(call, () => {
        reading += 1;
        return letGo.promise;
      }),
    );
    await waitFor('all four to be read', () => reading === 4);
    const late = { ...call, timeoutMs: 1000, maxBytes: 4 * ANSWER_BYTES };
    expect(await kindOf(client.request(late))).toBe('timeout');
    letGo.resolve(undefined);
    await Promise.all(holding);
    expect((await client.request(call)).body).toHaveLength(ANSWER_BYTES);
  }, 60_000);

  it('is given back whole when a call leaves, and goes to a call that still waits', () => {
    const room = new AnswerRoom(undefined, 8);
    const begun: string[] = [];
    const call = (workspaceId: string, pieces: number) => {
      const { enter, leave } = room.open(workspaceId);
      enter(pieces * PIECE_BYTES, () => begun.push(workspaceId));
      return leave;
    };
    const leaveFirst = call('a', 4);
    const leaveSecond = call('a', 4);
    call('b', 4)(); // gives up at once
    expect(room.held).toBe(4);
    leaveFirst();
    expect([begun, room.held]).toEqual([['a'], 4]);
    leaveSecond();
    expect(room.held).toBe(0);
  });

  it('is not taken by a call that ends while it waits for more', () => {
    const room = new AnswerRoom(undefined, 8);
    const other = room.open('other');
    other.enter(2 * PIECE_BYTES, () => {});
    const call = room.open('mine');
    call.enter(1, () => {});
    expect(call.enter(3 * PIECE_BYTES, () => {})).toBe(false);
    call.leave();
    other.leave();
    expect(room.held).toBe(0);
  });

  it('goes to the next call when the one before it gives up', () => {
    const room = new AnswerRoom(undefined, 8);
    room.open('other').enter(2 * PIECE_BYTES, () => {});
    const large = room.open('mine');
    expect(large.enter(4 * PIECE_BYTES, () => {})).toBe(false);
    let hasRoom = false;
    expect(room.open('mine').enter(1, () => (hasRoom = true))).toBe(false);
    large.leave();
    expect([hasRoom, room.held]).toEqual([true, 3]);
  });
});
