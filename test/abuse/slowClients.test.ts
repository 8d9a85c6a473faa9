// Attack 11: requests that never end.
import { describe, expect, it } from '@jest/globals';
import { sized } from './size.ts';
import { onStage } from './stage.ts';

const PROXY = '127.0.0.1';
/** Half of the connections come through the proxy, the others straight from strangers. */
const PEERS = ['127.0.9.1', PROXY, '127.0.9.2', PROXY];
/** Somewhat longer than a request may take to arrive. */
const PATIENCE_SECONDS = 75;

describe('11: bodies and headers that never end', () => {
  it('are closed, and the memory that they hold is freed', () =>
    onStage({}, async (stage) => {
      const connections = sized(800, 2000);
      const counts = await stage.attack(
        `11: ${connections} requests that never end`,
        'slowClients',
        {
          connections,
          peers: PEERS,
          proxy: PROXY,
          patienceSeconds: PATIENCE_SECONDS,
          seconds: 120,
        },
      );
      expect(counts).toMatchObject({ 'connections that the service kept open': 0 });
      await stage.expectNoHarm();
    }));
});
