import {
  BOUNDS,
  createBounds,
  type BoundName,
} from '../../../../service/src/platform/limits/bounds.ts';

const HOUR_MS = 3_600_000;

it('counts a bound each time it is reached, and tells the log once an hour', () => {
  const counted: BoundName[] = [];
  const lines: string[] = [];
  let now = 0;
  const bounds = createBounds(
    { warn: (_about: unknown, line: string) => lines.push(line) } as never,
    (bound) => counted.push(bound),
    () => now,
  );
  for (let at = 0; at < 1000; at += 1) bounds.reached('address_sessions');
  bounds.reached('connections');
  expect(counted).toHaveLength(1001);
  expect(lines).toEqual([
    expect.stringContaining(BOUNDS.address_sessions),
    expect.stringContaining(BOUNDS.connections),
  ]);
  now = HOUR_MS;
  bounds.reached('address_sessions');
  expect(lines).toHaveLength(3);
});
