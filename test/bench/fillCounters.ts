// Fills a store with what the overview has counted after ninety days of which every hour was busy,
// with several tools and subscriptions.
import { foldAll } from '../../service/src/overview/fold.ts';
import { count, type Counting } from '../../service/src/platform/counting/count.ts';
import { durationBucket } from '../../service/src/platform/counting/durations.ts';
import type { ServiceStore } from '../../service/src/store/collections.ts';

const HOURS = 90 * 24;
const HOUR_MS = 3_600_000;
const SUBSCRIPTIONS = 8;
const TOOLS = 6;

export async function fillCounters(store: ServiceStore, workspaceId: string): Promise<void> {
  const now = Date.now();
  for (let hour = 0; hour < HOURS; hour += 1) {
    const at = new Date(now - hour * HOUR_MS);
    await store.transaction((tx) => count(tx, workspaceId, at, ...countingsOf(hour)));
  }
  await foldAll(store);
}

/** Durations differ from hour to hour, so that a day has many buckets. */
function countingsOf(hour: number): readonly Counting[] {
  const bucket = (least: number) => durationBucket(least * (1 + (hour % 24)));
  const countings: Counting[] = [];
  for (const channel of ['web_chat', 'whatsapp_cloud'])
    countings.push(
      ['opened', [channel], 40],
      ['closed', [channel, 'goal_reached'], 30],
      ['first_answer', [channel, bucket(900)], 40],
      ['resolution', [channel, bucket(60_000)], 30],
      ['answered', [channel, 'language_model'], 60],
      ['answered', [channel, 'team_member'], 20],
      ['handed_over', [channel, 'customer_request'], 5],
      ['opened_handed_over', [channel], 5],
    );
  for (let n = 0; n < TOOLS; n += 1)
    countings.push(
      ['tool_call', [`tool_${n}`, 'succeeded'], 9],
      ['tool_call', [`tool_${n}`, 'failed'], 1],
      ['tool_time', [`tool_${n}`, bucket(100 + n)], 10],
    );
  for (let n = 0; n < SUBSCRIPTIONS; n += 1)
    countings.push(
      ['attempt', [`sub_${n}`, 'succeeded'], 99],
      ['attempt', [`sub_${n}`, 'failed'], 1],
      ['attempt_time', [`sub_${n}`, bucket(10 + n)], 100],
      ['delivery', [`sub_${n}`, 'delivered'], 99],
    );
  return countings;
}
