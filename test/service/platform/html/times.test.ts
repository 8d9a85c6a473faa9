import { describe, expect, it } from '@jest/globals';
import { inZone } from '../../../../service/src/platform/html/readerZone.ts';
import { ago, shortAgo } from '../../../../service/src/platform/html/times.ts';

describe('a time from now', () => {
  const now = new Date('2026-11-25T10:00:00Z');

  it.each([
    ['2026-11-25T09:59:30Z', 'now'],
    ['2026-11-25T09:55:00Z', '5 minutes ago'],
    ['2026-11-24T23:00:00Z', '11 hours ago'],
    ['2026-11-23T11:00:00Z', '1 day ago'],
    ['2026-11-26T09:59:50Z', 'in 1 day'],
    ['2026-11-27T09:00:00Z', 'in 1 day'],
  ])('%s is %s', (time, words) => expect(ago(time, now)).toBe(words));
});

describe('a time in few letters', () => {
  const now = new Date('2026-11-25T16:00:00Z');

  it.each([
    ['2026-11-25T15:59:30Z', 'now'],
    ['2026-11-25T16:00:05Z', 'now'],
    ['2026-11-25T15:57:00Z', '3 min'],
    ['2026-11-25T11:00:00Z', '5 h'],
    ['2026-11-24T10:00:00Z', 'Tue'],
    ['2026-11-12T10:00:00Z', '12 Nov'],
    ['2025-11-12T10:00:00Z', '12 Nov 2025'],
  ])('%s is %s', (time, words) => expect(shortAgo(time, now)).toBe(words));

  it.each([
    ['2026-11-24T02:00:00Z', 'Mon'],
    ['2026-11-12T02:00:00Z', '11 Nov'],
    ['2026-01-01T02:00:00Z', '31 Dec 2025'],
  ])('%s is %s where the reader is in New York', (time, words) =>
    inZone('America/New_York', () => expect(shortAgo(time, now)).toBe(words)),
  );
});
