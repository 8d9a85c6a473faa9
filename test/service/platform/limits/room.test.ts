import { expect, it } from '@jest/globals';
import { pressureInWords } from '../../../../service/src/platform/limits/room.ts';
import type { Refusal, StorePressure } from '../../../../service/src/store/store.ts';

const pressure = (refuses: Refusal, largestShare: number): StorePressure => ({
  refuses,
  liveBytes: 2 ** 30,
  limitBytes: 2 ** 31,
  marks: { visitors_of_largest: 0.55, largest: 0.6, visitors: 0.65, additions: 0.7 },
  measurement: 1,
  largestShare,
  storedShareOf: () => largestShare,
  holdsTooMuch: () => true,
  holders: () => ['w'],
});

it.each<[string, Refusal, number, string]>([
  ['one workspace', 'visitors', 1, 'new chats from 65 %, everything that adds data from 70 %'],
  ['one workspace', 'additions', 1, 'new chats from 65 %, everything that adds data from 70 %'],
  [
    'a workspace that stores too much',
    'largest',
    0.8,
    'new chats from 55 %, everything that adds data from 60 %',
  ],
  ['several workspaces', 'additions', 0.3, 'from 70 %'],
])(
  'with %s: at “%s”, says how full the memory is when refusals begin',
  (_who, refuses, share, from) => {
    expect(pressureInWords(pressure(refuses, share))).toContain(`until there is room (${from}).`);
  },
);
