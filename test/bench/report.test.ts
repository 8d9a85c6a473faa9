import { expect, it } from '@jest/globals';
import { comparison, CPU_EACH, figuresOf, ratiosOf, scaled, type Run } from './comparison.ts';
import {
  isReached,
  pageWith,
  reportPage,
  reportSection,
  reportTable,
  round,
  type PartResult,
} from './report.ts';

const run = (perSecond: number, cpu: number): Run => ({ perSecond, details: { [CPU_EACH]: cpu } });
const part = (more: Partial<PartResult>): PartResult => ({
  ratios: [],
  figures: [],
  settings: [],
  ...more,
});
const cellsOf = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

it('compares neighbouring runs: what ours does a second by theirs, and the CPU time of theirs by ours', () => {
  const measured = comparison('Deliveries', 'a loop', { aSecond: { atLeast: 0.7 } });
  measured.theirs.push(run(1000, 50), run(2000, 100), run(4000, 100));
  measured.ours.push(run(500, 100), run(1500, 200), run(2400, 50));
  const [aSecond, cpu] = ratiosOf(measured);
  expect(aSecond).toMatchObject({
    values: [0.5, 0.75, 0.6],
    goal: { atLeast: 0.7 },
    ours: '1,500 a second',
    beside: '2,000 a second',
  });
  expect(cpu).toMatchObject({
    values: [0.5, 0.5, 2],
    goal: null,
    ours: '100 µs each',
    beside: '100 µs each',
  });
  expect(figuresOf(measured).map(({ ours, beside }) => [ours, beside])).toEqual([
    ['1,500 (500 to 2,400)', '2,000 (1,000 to 4,000)'],
    ['100 (50.00 to 200)', '100 (50.00 to 100)'],
  ]);
});

it.each([
  [{ atLeast: 0.7 }, [0.9, 0.7, 0.1], true],
  [{ atLeast: 0.7 }, [0.9, 0.69, 0.1], false],
  [{ atMost: 1.2 }, [5, 1.2, 1], true],
  [{ atMost: 1.2 }, [5, 1.21, 1], false],
  [{ atLeast: 0.7 }, [Number.NaN], false],
])('judges by the median: goal %j, runs %j: %s', (goal, values, reached) => {
  expect(isReached(values, goal)).toBe(reached);
});

it('puts ratios first, then what could not be measured, then figures, in columns of even width', () => {
  const table = reportTable([
    part({
      ratios: [
        { name: 'Deliveries', values: [0.5], goal: { atLeast: 0.7 }, ours: '5', beside: '10' },
      ],
      figures: [{ name: 'Deliveries: body', ours: '700', beside: '' }],
    }),
    part({ missing: [{ name: 'Redis', why: 'not there,\n  a | b' }] }),
    part({
      ratios: [
        { name: 'CPU', values: [2, 1, 3], goal: null, ours: '', beside: '' },
        { name: 'Size', values: [1], goal: { atMost: 1.2 }, ours: '', beside: '' },
      ],
    }),
  ]);
  const lines = table.split('\n');
  expect(lines.map(cellsOf)).toEqual([
    ['What', 'Ratio', 'Goal', 'Result', 'Ours', 'Beside it'],
    expect.arrayContaining([expect.stringMatching(/^-+$/)]),
    ['Deliveries', '0.50', 'at least 0.7', '**missed**', '5', '10'],
    ['CPU', '2.00 (1.00 to 3.00)', '', '', '', ''],
    ['Size', '1.00', 'at most 1.2', 'reached', '', ''],
    ['Redis', '', '', '**not measured**', String.raw`not there, a \| b`, ''],
    ['Deliveries: body', '', '', '', '700', ''],
  ]);
  expect(new Set(lines.map((line) => line.length)).size).toBe(1);
});

it('shows the ratios, and folds figures, day, machine and settings', () => {
  const ratio = { values: [2], goal: null, ours: '5', beside: '10' };
  const page = reportPage({
    date: new Date('2026-11-21T23:00:00Z'),
    machine: ['A machine'],
    parts: [
      part({ settings: ['One.'], ratios: [{ ...ratio, name: 'Deliveries' }] }),
      part({ settings: ['Two.'], ratios: [{ ...ratio, name: 'CPU', isDetail: true }] }),
    ],
  });
  const [shown = '', figures = '', settings = ''] = page.split('<details>');
  expect(shown).toMatch(/^# Benchmarks\n/);
  expect(shown.split('\n').filter((line) => line.startsWith('|'))).toEqual([
    '| What | Ratio | Goal | Result |',
    '| --- | --- | --- | --- |',
    '| Deliveries | 2.00 |  |  |',
  ]);
  expect(figures).toMatch(/\| CPU +\| 2\.00 +\| +\| +\| 5 /);
  expect(settings).toContain('Written by `npm run bench` on 2026-11-21.');
  expect(settings).toContain('\n- A machine\n\n- One.\n- Two.\n');
});

it('writes one part of the page and leaves the others alone', () => {
  const report = (setting: string) => ({
    date: new Date('2026-11-21T23:00:00Z'),
    machine: ['A machine'],
    parts: [part({ settings: [setting] })],
  });
  const main = reportPage(report('One.'));
  const postgres = reportSection('postgres', report('Two.'));
  const n8n = reportSection('n8n', report('Three.'));
  const withN8n = pageWith(null, { name: 'n8n', text: n8n });
  const withMain = pageWith(withN8n, { name: 'main', text: main });
  const page = pageWith(withMain, { name: 'postgres', text: postgres });
  expect(page).toBe(main + postgres + n8n);
  expect(page).toMatch(/\n\n## On PostgreSQL\n\nSeveral processes/);
  expect(page).toContain('Written by `npm run bench -- --postgres` on 2026-11-21.');
  const newPostgres = reportSection('postgres', report('Four.'));
  expect(pageWith(page, { name: 'postgres', text: newPostgres })).toBe(main + newPostgres + n8n);
  const newMain = reportPage(report('Five.'));
  expect(pageWith(page, { name: 'main', text: newMain })).toBe(newMain + postgres + n8n);
  expect(pageWith(main, { name: 'main', text: newMain })).toBe(newMain);
  const profile = reportSection('profile', report('Profiled.'), '| A table |');
  expect(pageWith(page, { name: 'profile', text: profile })).toBe(main + profile + postgres + n8n);
  expect(profile).toMatch(/\n## Where the time goes\n\n.*\n\n\| A table \|\n/);
  expect(profile).not.toContain('Every figure');
});

it('writes two decimals below 100, and whole numbers from there', () => {
  expect([0.456, 12.3, 123.4, 999.9, 1234.5, 1_234_567, Number.NaN].map(round)).toEqual([
    '0.46',
    '12.30',
    '123',
    '1,000',
    '1,235',
    '1,234,567',
    'unknown',
  ]);
});

it('cuts counts to a multiple of sixteen, which sixteen writers can share', () => {
  expect(scaled(8000, { rounds: 1, share: 1 })).toBe(8000);
  expect(scaled(5000, { rounds: 1, share: 0.1 })).toBe(496);
  expect(scaled(8, { rounds: 1, share: 0.1 })).toBe(16);
});
