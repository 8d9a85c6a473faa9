// Attack 2 from many addresses, against a small heap.
import { describe, expect, it } from '@jest/globals';
import { testDatabaseUrl } from '../helpers/storage.ts';
import { onStage } from './stage.ts';

const HEAP_MIB = 96;
/** When room is short, whatever adds is refused with words; what only reads never is. */
const ADDS = ['message', 'tool call', 'sign-in'];

describe('2: sessions and long messages from many addresses', () => {
  it(`end no process with a heap of ${HEAP_MIB} MiB, and no start with it`, () =>
    onStage({ env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` }, mayRefuse: (kind, status) => status === 503 && ADDS.includes(kind) }, async (stage) => {
      // Several times what the heap could hold; it ends when nothing more is taken.
      const messages = 60_000;
      const title = `2: messages of 4 kB from many addresses, with a heap of ${HEAP_MIB} MiB`;
      const counts = await stage.attack(title, 'chatFlood', { addresses: 200, sessionsEach: 5, messages, connections: 50, seconds: 240 });
      expect(counts['messages 202']).toBeGreaterThan(0);
      expect(counts['messages 0'] ?? 0).toBe(0);
      if (testDatabaseUrl() === null) expect(counts['messages 503']).toBeGreaterThan(0);
      await stage.settle({ mayGrowMiB: HEAP_MIB });
    }));
});
