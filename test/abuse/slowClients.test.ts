// Attack 11: requests that never end.
import { describe, expect, it } from '@jest/globals';
import { sized } from './size.ts';
import { onStage } from './stage.ts';

/** Strangers of their own, whom no proxy speaks for. */
const PEERS = Array.from({ length: 5 }, (_, n) => `127.0.9.${n + 1}`);
/** What a request may take to arrive, and then some. */
const PATIENCE_SECONDS = 90;

describe('11: requests that never end', () => {
  it.each([
    ['bodies', 'strangers', { peers: PEERS, isProxy: false, what: 'bodies' }],
    ['headers', 'strangers', { peers: PEERS, isProxy: false, what: 'headers' }],
    ['bodies', 'a proxy', { peers: ['127.0.0.1'], isProxy: true, what: 'bodies' }],
  ] as const)('%s of %s are let go, with what they hold', (what, whose, args) =>
    onStage({}, async (stage) => {
      const connections = sized(800, 2000);
      const counts = await stage.attack(`11: ${connections} unfinished ${what} of ${whose}`, 'slowClients', { connections, ...args, patienceSeconds: PATIENCE_SECONDS, seconds: 120 });
      expect(counts).toMatchObject({ 'connections that the service let stand': 0 });
      await stage.settle();
    }));
});
