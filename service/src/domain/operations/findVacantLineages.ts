import type { Deps } from '../deps.ts';
import { isVacant } from '../retiredSubscription.ts';

const BATCH = 500;

/**
 * The lineages of all workspaces whose subscription was removed within the last ten minutes and has
 * no successor yet. Their deliveries are due and held back all the same.
 * @see decision 0022
 */
export async function findVacantLineages({
  store,
}: Pick<Deps, 'store'>): Promise<ReadonlySet<string>> {
  const vacant = new Set<string>();
  let after: { value: string } | undefined;
  do {
    const from = after ? { after } : {};
    const retired = await store.transaction((tx) =>
      tx.retiredSubscriptions.find({ where: {}, limit: BATCH, ...from }),
    );
    for (const each of retired.filter(isVacant)) vacant.add(each.lineageId);
    after = retired.length === BATCH ? { value: retired.at(-1)!.id } : undefined;
  } while (after);
  return vacant;
}
