// The measurements that stand in files of their own, as parts of the table.
import type { Effort } from './comparison.ts';
import { measureBurst, measureFairness } from './fairness.ts';
import { round, spread, type PartResult } from './report.ts';
import { measureSearch, MESSAGES_IN_CONVERSATION, SEARCHES } from './search.ts';
import { measureScreens, MESSAGES, REQUESTS, SCREEN_GOAL_MS, SIZES } from './screens.ts';
import { measureSnapshots, type SnapshotsReport } from './snapshots.ts';
import type { Tls } from './sinkClient.ts';
import { median, quantile } from './statistics.ts';

const MIB = 2 ** 20;
const isWhole = ({ share }: Effort) => share === 1;
const ms = (value: number) => `${round(value)} ms`;

export async function fairnessPart(effort: Effort): Promise<PartResult> {
  const options = isWhole(effort)
    ? { rounds: effort.rounds, seconds: 12, waiting: 10_000 }
    : { rounds: effort.rounds, seconds: 4, waiting: 1000 };
  const {
    without,
    with: beside,
    ratio,
    goal,
  } = await measureFairness({ badness: 'hang', ...options });
  return {
    ratios: [
      {
        name: 'Event to the other 24 subscriptions beside one that hangs, p99, to without it',
        values: [ratio.least, ratio.median, ratio.most],
        goal: { atMost: goal },
        ours: ms(beside.p99Ms),
        beside: ms(without.p99Ms),
      },
    ],
    figures: [
      {
        name: 'Beside one that hangs: p50, beside it without',
        ours: ms(beside.p50Ms),
        beside: ms(without.p50Ms),
      },
      {
        name: 'Beside one that hangs: CPU seconds a second, beside it without',
        ours: round(beside.cpu),
        beside: round(without.cpu),
      },
    ],
    settings: [
      `Fairness: from a customer's message until its event is at each of 24 receivers, ${options.seconds} seconds a round, ${options.rounds} rounds; ` +
        `one more subscription has ${options.waiting} events waiting and a receiver that never answers (time-out 10 s). Beside it: the same service where that receiver answers.`,
    ],
  };
}

export async function burstPart(effort: Effort): Promise<PartResult> {
  const { events, serviceMs, seconds, arrived, twice, timedOut } = await measureBurst({
    events: isWhole(effort) ? 1000 : 100,
  });
  return {
    ratios: [
      {
        name: `Burst of ${events} events at a receiver that handles ${1000 / serviceMs} a second: share that arrived without a time-out`,
        values: [(arrived - timedOut) / events],
        goal: { atLeast: 1 },
        ours: `${arrived} of ${events}, ${timedOut} time-outs`,
        beside: '',
      },
    ],
    figures: [
      {
        name: 'Burst: seconds until all were handled, beside the least possible',
        ours: round(seconds),
        beside: round((events * serviceMs) / 1000),
      },
      { name: 'Burst: events that arrived twice', ours: String(twice), beside: '' },
    ],
    settings: [
      `Burst: the receiver handles one request after the other, ${serviceMs} ms each; the time-out is the default of 10 s.`,
    ],
  };
}

export async function snapshotsPart(effort: Effort): Promise<PartResult> {
  const rounds = isWhole(effort) ? 3 : 1;
  const runs: SnapshotsReport[] = [];
  for (let i = 0; i < rounds; i += 1)
    runs.push(
      await measureSnapshots(isWhole(effort) ? {} : { documents: 20_000, seconds: 3, writes: 400 }),
    );
  const middle = (of: (run: SnapshotsReport) => number) => median(runs.map(of));
  const [{ documents }] = runs as [SnapshotsReport];
  return {
    ratios: [
      {
        name: 'API write during a snapshot, p99, to without',
        values: runs.map(({ ratio }) => ratio),
        goal: { atMost: 2 },
        ours: ms(middle(({ during }) => during.p99Ms)),
        beside: ms(middle(({ without }) => without.p99Ms)),
      },
    ],
    figures: [
      {
        name: 'During a snapshot: p50 of API writes, beside it without',
        ours: ms(middle(({ during }) => during.p50Ms)),
        beside: ms(middle(({ without }) => without.p50Ms)),
      },
      {
        name: 'During a snapshot: event loop late by, p99, beside it without',
        ours: ms(middle(({ during }) => during.loop.p99Ms)),
        beside: ms(middle(({ without }) => without.loop.p99Ms)),
      },
      {
        name: 'During a snapshot: longest computing without a break, beside it without',
        ours: ms(middle(({ during }) => during.loop.longestTurnMs)),
        beside: ms(middle(({ without }) => without.loop.longestTurnMs)),
      },
      {
        name: 'During a snapshot: seconds that it takes',
        ours: spread(runs.map(({ snapshotSeconds }) => snapshotSeconds)),
        beside: '',
      },
      {
        name: 'During a snapshot: its size, MiB',
        ours: round(middle(({ snapshotBytes }) => snapshotBytes / MIB)),
        beside: '',
      },
    ],
    settings: [
      `Snapshots: chat messages at an even pace, with ${documents.toLocaleString('en-US')} documents stored and changed since the last snapshot, before, while and after one is written, until ${isWhole(effort) ? '2,000' : '400'} writes fell into snapshots; ${rounds} runs.`,
    ],
  };
}

export async function screensPart({ caFile }: Tls, effort: Effort): Promise<PartResult> {
  const sizes = isWhole(effort) ? SIZES : { small: 10, large: 500 };
  const times = await measureScreens(caFile, sizes);
  const text = (values: readonly number[]) =>
    `${ms(median(values))} (95 %: ${ms(quantile(values, 0.95))})`;
  return {
    ratios: times.map(({ page, small, large }) => ({
      name: `Page "${page}", median to the goal of ${SCREEN_GOAL_MS} ms`,
      values: [median(large) / SCREEN_GOAL_MS],
      goal: { atMost: 1 },
      ours: text(large),
      beside: text(small),
    })),
    figures: [],
    settings: [
      `Pages of the team: ${REQUESTS} requests each, one after the other, with ${sizes.large.toLocaleString('en-US')} conversations of ${MESSAGES} messages stored; beside it with ${sizes.small} conversations.`,
    ],
  };
}

export async function searchPart(effort: Effort): Promise<PartResult> {
  const conversations = isWhole(effort) ? 10_000 : 500;
  const times = await measureSearch(conversations);
  return {
    ratios: times.map(({ store, search, taken, byName }) => ({
      name: `Search, ${store}: ${search}, median, to the API's search by name`,
      values: [median(taken) / median(byName)],
      goal: { atMost: 1 },
      ours: ms(median(taken)),
      beside: ms(median(byName)),
    })),
    figures: [],
    settings: [
      `Search in what was said: ${SEARCHES} searches each, one after the other, in ${(conversations * MESSAGES_IN_CONVERSATION).toLocaleString('en-US')} messages of 14 words (20,000 different ones, by Zipf's distribution) in ${conversations.toLocaleString('en-US')} conversations; beside it the API's search by name, which looks through up to 5,000 conversations.`,
    ],
  };
}
