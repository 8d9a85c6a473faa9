import type { ServiceStore } from '../../../service/src/store/collections.ts';

/** Everything that a store holds, as one text. */
export async function textOf(store: ServiceStore): Promise<string> {
  const records: string[] = [];
  for await (const record of store.dump()) records.push(JSON.stringify(record));
  return records.join('\n');
}
