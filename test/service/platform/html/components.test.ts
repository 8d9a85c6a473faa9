import { expect, it } from '@jest/globals';
import { durationInWords } from '../../../../service/src/platform/html/components.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

it.each([
  [0, '0 ms'],
  [820, '820 ms'],
  [1400, '1.4 s'],
  [59_960, '1 min 0 s'],
  [2 * MINUTE_MS + 5000, '2 min 5 s'],
  [HOUR_MS - 1, '1 h 0 min'],
  [3 * HOUR_MS + 20 * MINUTE_MS, '3 h 20 min'],
  [4 * 24 * HOUR_MS + 6 * HOUR_MS, '4 d 6 h'],
])('%s milliseconds are %s', (ms, words) => expect(durationInWords(ms)).toBe(words));
