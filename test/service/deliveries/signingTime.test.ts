// The time that a request is signed for. A redelivery that someone asked for never has the time of
// an earlier request.
import { expect, it } from '@jest/globals';
import { attempt } from '../../../service/src/deliveries/sending/attempt.ts';
import { startTlsReceiver } from '../../helpers/tls.ts';
import { localClient } from '../platform/outbound/support.ts';

it.each([
  ['was not sent before', true, null, 0],
  ['was sent long ago', true, '2026-11-21T09:00:00.000+00:00', 0],
  ['was sent in this very second', true, '2026-11-21T10:00:00.100+00:00', 1],
  ['was sent when the clock was 20 s ahead', true, '2026-11-21T10:00:20.000+00:00', 21],
  ['was sent when the clock was a day ahead', true, '2026-11-22T10:00:00.000+00:00', 60],
  ['is a retry in this very second', false, '2026-11-21T10:00:00.100+00:00', 0],
])(
  'an event that %s (redelivery asked for: %p)',
  async (_what, isRepeat, lastAttemptAt, aheadS) => {
    const receiver = await startTlsReceiver();
    const client = await localClient();
    const now = new Date('2026-11-21T10:00:00.500+00:00');
    const call = {
      workspaceId: 'ws_test',
      url: receiver.url,
      event: { id: 'evt_1', name: 'message.received', body: '{}' } as const,
      secrets: ['whsec_AAAA'],
      repeatRound: isRepeat ? 0 : null,
      lastAttemptAt,
    };
    const { verdict } = await attempt(client, call, { now, timeoutMs: 5_000 });
    await client.close();
    await receiver.close();
    const t = Math.floor(now.getTime() / 1000) + aheadS;
    expect([verdict, receiver.requests[0]!.headers['x-service-signature']]).toEqual([
      'success',
      expect.stringMatching(`^t=${t},`),
    ]);
  },
);
