import type { Logger } from 'pino';
import { timestamp, type Clock } from '../platform/clock.ts';
import type { ServiceStore, Tx } from '../store/collections.ts';
import type { N8nAddress } from './n8nAddress.ts';
import { findOwner } from './operations/owner.ts';
import type { Member } from './workspace.ts';
import type { OutboundClient } from '../platform/outbound/outboundClient.ts';
import { StoreUnavailable } from '../store/store.ts';

/** The setting with the stored address. */
const N8N_ADDRESS = 'n8n_address';
const RETRY_MS = 1_000;

/** What a screen shows of the setting. */
export interface N8nSettingState {
  /** Null: nobody has chosen yet. Outgoing calls obey N8N_URL instead when it is set. */
  readonly chosen: N8nAddress | null;
  /** Null: nobody has set the service up, or the owner was removed. */
  readonly owner: Member | null;
}

/** Where n8n runs: one setting for the whole service, which outgoing calls obey. */
export interface N8nSetting {
  /** N8N_URL, which decides instead of what is stored; null when it is not set. */
  readonly fromEnvironment: string | null;
  read(): Promise<N8nSettingState>;
  /** @throws OutboundError when the address cannot be opened, with the reason in words */
  check(origin: string | null): Promise<void>;
  /**
   * Stores the choice. Call `apply` after the transaction.
   * @param changedBy the member's name
   */
  put(tx: Tx, origin: string | null, changedBy: string): Promise<void>;
  /**
   * Stores the choice of the owner and applies it.
   * @returns false when the member is not the owner, or the environment decides
   * @throws OutboundError for the reasons of `check`, which runs first
   */
  change(member: Member, origin: string | null): Promise<boolean>;
  /**
   * Reads what is stored, and makes the outgoing calls of this process obey it. Each process also
   * does so when it learns of a change: if the store fails here, the change takes effect later.
   */
  apply(): Promise<void>;
}

interface Parts {
  readonly store: ServiceStore;
  readonly clock: Clock;
  readonly outbound: Pick<OutboundClient, 'open' | 'checkOpening'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** N8N_URL */
  readonly fromEnvironment: string | null;
}

/**
 * Applies the setting, and each change that any process makes to it until `stopping`. Resolves when
 * outgoing calls obey it.
 */
export async function openN8nSetting(parts: Parts, stopping: AbortSignal): Promise<N8nSetting> {
  const { store, clock, outbound, log, fromEnvironment } = parts;
  const readStored = async (tx: Tx): Promise<N8nAddress | null> => {
    const document = await tx.settings.peek(N8N_ADDRESS);
    return document && (JSON.parse(document.value) as N8nAddress);
  };

  // One read after the other, so that an older answer never replaces a newer one.
  let lastApplied: Promise<void> = Promise.resolve();
  const applyStored = (): Promise<void> => {
    const result = lastApplied.then(async () => {
      const origin = fromEnvironment ?? (await store.transaction(readStored))?.origin ?? null;
      outbound.open(origin);
    });
    lastApplied = result.catch(() => {});
    return result;
  };

  const setting: N8nSetting = {
    fromEnvironment,
    read: () =>
      store.transaction(async (tx) => ({
        chosen: await readStored(tx),
        owner: await findOwner(tx),
      })),
    check: async (origin) => {
      if (origin !== null) await outbound.checkOpening(origin);
    },
    put: async (tx, origin, changedBy) => {
      const value = { origin, changedBy, changedAt: timestamp(clock.now()) };
      await tx.settings.put({ id: N8N_ADDRESS, value: JSON.stringify(value) });
    },
    change: async (member, origin) => {
      if (fromEnvironment !== null) return false;
      await setting.check(origin);
      const earlier = await store.transaction(async (tx) => {
        if ((await findOwner(tx))?.id !== member.id) return null;
        await tx.settings.get(N8N_ADDRESS); // locks it
        const before = await readStored(tx);
        await setting.put(tx, origin, member.name);
        return { origin: before?.origin ?? null };
      });
      if (earlier === null) return false;
      log.info(
        { member: member.id, from: earlier.origin, to: origin },
        'the address of n8n changed',
      );
      await setting.apply();
      return true;
    },
    apply: () => applyStored().catch(() => {}),
  };

  // Before the first read, so that no change is missed.
  const changes = store.changes({ signal: stopping });
  await applyStored();
  if (fromEnvironment === null) void follow(changes, applyStored, log, stopping);
  return setting;
}

async function follow(
  changes: ReturnType<ServiceStore['changes']>,
  apply: () => Promise<void>,
  log: Pick<Logger, 'warn'>,
  stopping: AbortSignal,
): Promise<void> {
  for await (const change of changes) {
    const mayConcernUs =
      'gap' in change || (change.collection === 'settings' && change.id === N8N_ADDRESS);
    if (mayConcernUs) await applyUntilDone(apply, log, stopping);
  }
}

/** The store may be away for a moment. The last known address stays in force until it is back. */
async function applyUntilDone(
  apply: () => Promise<void>,
  log: Pick<Logger, 'warn'>,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    try {
      return await apply();
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        log.warn({ err: error }, 'the address of n8n could not be read; it is tried again');
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
    }
  }
}
