import { describe, expect, it } from '@jest/globals';
import type * as instantFile from '../../nodes/ConversationService/shared/instant';
import { builtFile } from './helpers/builtFile.ts';

const { toInstant } = builtFile<typeof instantFile>('shared/instant');

describe('toInstant', () => {
  it.each([
    ['2026-11-21T10:00:00Z', 'Europe/Berlin', '2026-11-21T10:00:00.000+00:00'],
    ['2026-11-21T10:00:00.000+02:00', 'Europe/Berlin', '2026-11-21T08:00:00.000+00:00'],
    ['2026-11-21T10:00:00-0530', 'UTC', '2026-11-21T15:30:00.000+00:00'],
    ['2026-11-21T10:00:00', 'Europe/Berlin', '2026-11-21T09:00:00.000+00:00'],
    ['2026-07-21T10:00:00', 'Europe/Berlin', '2026-07-21T08:00:00.000+00:00'],
    ['2026-07-21T10:00:00', 'Asia/Kathmandu', '2026-07-21T04:15:00.000+00:00'],
    ['2026-11-21T10:00:00', 'America/New_York', '2026-11-21T15:00:00.000+00:00'],
    ['2026-11-21 10:00', 'UTC', '2026-11-21T10:00:00.000+00:00'],
    // As PostgreSQL writes it, and as an e-mail says when it was sent.
    ['2026-11-21 10:00:00+01', 'America/New_York', '2026-11-21T09:00:00.000+00:00'],
    ['2026-11-21T10:00:00-03', 'Europe/Berlin', '2026-11-21T13:00:00.000+00:00'],
    ['Sat, 21 Nov 2026 10:00:00 +0100', 'UTC', '2026-11-21T09:00:00.000+00:00'],
    ['Sat, 21 Nov 2026 10:00:00 +0000 (UTC)', 'Europe/Berlin', '2026-11-21T10:00:00.000+00:00'],
    ['Sat, 21 Nov 2026 10:00:00 GMT', 'Europe/Berlin', '2026-11-21T10:00:00.000+00:00'],
    ['2026-11-21', 'America/New_York', '2026-11-21T05:00:00.000+00:00'],
    // An hour after the clocks went forward in Berlin, and an hour before.
    ['2026-03-29T03:30:00', 'Europe/Berlin', '2026-03-29T01:30:00.000+00:00'],
    ['2026-03-29T01:30:00', 'Europe/Berlin', '2026-03-29T00:30:00.000+00:00'],
  ])('reads %s in %s as %s', (value, zone, expected) => {
    expect(toInstant(value, zone)).toBe(expected);
  });

  it.each([
    '',
    'yesterday',
    '2026-13-40T10:00:00',
    '2026-02-30',
    '2026-02-29T10:00:00Z',
    'Mon, 30 Feb 2026 10:00:00 +0000',
    '03.04.2026 10:00',
    'Mar 4 2026 10:00',
  ])('says that "%s" is not a date', (value) => {
    expect(toInstant(value, 'UTC')).toBeNull();
  });
});
