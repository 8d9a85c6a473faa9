// Attack 2 from many addresses. The embedded store keeps everything in the heap, which is small
// here.
import { describe, expect, it } from '@jest/globals';
import { testDatabaseUrl } from '../helpers/storage.ts';
import { sized } from './size.ts';
import { onStage, type StageOptions } from './stage.ts';

const HEAP_MIB = 96;
/** When room is short, requests that add data are refused with a 503; those that only read never are. */
const KINDS_THAT_ADD = ['message', 'tool call', 'sign-in'];
const SMALL_HEAP: StageOptions = {
  env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` },
  mayRefuse: (kind, status) => status === 503 && KINDS_THAT_ADD.includes(kind),
};

const isEmbedded = testDatabaseUrl() === null;

describe('2: sessions and long messages from many addresses', () => {
  it('end neither the process nor its next start with the same heap', () =>
    onStage(isEmbedded ? SMALL_HEAP : {}, async (stage) => {
      // Several times what the heap can hold. The attack ends when nothing more is accepted.
      const flood = { addresses: 200, sessionsEach: 5, messages: 60_000, connections: 50 };
      const title = `2: messages of 4 kB from many addresses${isEmbedded ? `, with a heap of ${HEAP_MIB} MiB` : ''}`;
      const counts = await stage.attack(title, 'chatFlood', {
        ...flood,
        seconds: isEmbedded ? 240 : sized(20, 60),
      });
      expect(counts['messages 202']).toBeGreaterThan(0);
      expect(counts['messages 0'] ?? 0).toBe(0);
      if (isEmbedded) expect(counts['messages 503']).toBeGreaterThan(0);
      await stage.expectNoHarm({ mayGrowMiB: HEAP_MIB });
    }));
});
