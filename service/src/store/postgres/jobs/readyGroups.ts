import { shareOf, type SharedPlaces } from '../../store.ts';
import { fromText } from '../connection/sql.ts';

/** A group that has due jobs, as far as this process knows. */
interface ReadyGroup {
  /** As stored in the table. */
  readonly group: string;
  readonly share: string;
  /** When to try it, in steady milliseconds; Infinity: nothing is due. */
  tryAt: number;
  /** Fresh jobs claimed since the last retry, at most seven. */
  sinceRetry: number;
  /** A number that grows with each claim. The group with the lowest is served first. */
  servedNumber: number;
  /** When it was last heard of, in steady milliseconds. */
  heardAt: number;
}

/** A group that a claim may take jobs from. */
export interface Candidate {
  readonly ready: ReadyGroup;
  /** The number of its share. */
  readonly share: number;
  /** How many places the share holds. */
  readonly held: number;
  readonly slots: number;
}

/** What a claim found in a group. */
export interface Found {
  /** How many of its jobs other processes have; null: another process was just claiming some. */
  readonly elsewhere: number | null;
  /** How many jobs the claim could take. */
  readonly slots: number;
  /** Whether more may be due than were taken. */
  readonly hasMore: boolean;
}

/** After this many fresh jobs in a row, a retry has its turn. */
export const FRESH_IN_A_ROW = 7;
/** Each candidate takes a lock: the server has a few thousand for everyone. */
const MAX_CANDIDATES = 100;
/** How long another process may take to serve its own group before this one looks after it. */
const NEGLECTED_MS = 300;
/** How soon to try a group of our own again when another process was just claiming from it. */
const CLAIMED_MS = 5;
/** How soon to try a group of our own again when other processes' jobs fill all its slots. */
const SERVED_MS = 50;
/** How long the turn of a group with nothing due is remembered. */
const REMEMBERED_MS = 60_000;

/** The groups of a queue that have due jobs, and whose turn it is. */
export class ReadyGroups {
  readonly #groups = new Map<string, ReadyGroup>();
  readonly #isMine: (group: string) => boolean;
  #served = 0;
  #forgotAt = performance.now();

  /** @param isMine whether this process is the one to serve the group */
  constructor(isMine: (group: string) => boolean) {
    this.#isMine = isMine;
  }

  isMine(group: string): boolean {
    return this.#isMine(group);
  }

  /** Notes that the group has due jobs. */
  add(group: string): void {
    const now = performance.now();
    let ready = this.#groups.get(group);
    if (ready === undefined) {
      ready = {
        group,
        share: shareOf(fromText(group)),
        tryAt: Infinity,
        sinceRetry: 0,
        servedNumber: 0,
        heardAt: now,
      };
      this.#groups.set(group, ready);
    }
    ready.heardAt = now;
    if (ready.tryAt === Infinity) ready.tryAt = this.#isMine(group) ? now : now + NEGLECTED_MS;
  }

  /**
   * The groups with free slots to try now, at most a hundred. Shares take turns, and so do the
   * groups of a share.
   */
  candidates(places: SharedPlaces, slotsOf: (group: string) => number): readonly Candidate[] {
    const now = performance.now();
    const shares = sharesOf(
      [...this.#groups.values()].filter(({ tryAt }) => tryAt <= now),
      places,
    ).map(({ held, groups }, share) =>
      groups
        .map((ready) => ({ ready, share, held, slots: slotsOf(fromText(ready.group)) }))
        .filter(({ slots }) => slots > 0)
        .sort((a, b) => a.ready.servedNumber - b.ready.servedNumber),
    );
    const candidates: Candidate[] = [];
    for (let turn = 0; candidates.length < MAX_CANDIDATES; turn += 1) {
      const next = shares.flatMap((groups) => groups.slice(turn, turn + 1));
      if (next.length === 0) break;
      candidates.push(...next.slice(0, MAX_CANDIDATES - candidates.length));
    }
    return candidates;
  }

  /** Counts a job that was claimed. */
  served(ready: ReadyGroup, isRetry: boolean): void {
    ready.servedNumber = ++this.#served;
    ready.sinceRetry = isRetry ? 0 : Math.min(FRESH_IN_A_ROW, ready.sinceRetry + 1);
  }

  /**
   * Notes what a claim found in a group.
   * @param askedAt when the claim was sent, in steady milliseconds
   */
  note(ready: ReadyGroup, { elsewhere, slots, hasMore }: Found, askedAt: number): void {
    const now = performance.now();
    const isMine = this.#isMine(ready.group);
    if (elsewhere === null) ready.tryAt = now + (isMine ? CLAIMED_MS : NEGLECTED_MS);
    else if (slots === 0) ready.tryAt = now + (isMine ? SERVED_MS : NEGLECTED_MS);
    // A job may have been added since the claim looked.
    else ready.tryAt = hasMore || ready.heardAt >= askedAt ? now : Infinity;
  }

  /** Milliseconds until a group should be tried, leaving out groups to `skip`; Infinity: none. */
  msUntilTry(places: SharedPlaces, skip: (group: string) => boolean): number {
    const waiting = [...this.#groups.values()].filter(({ tryAt }) => tryAt < Infinity);
    const tryAt = sharesOf(waiting, places)
      .flatMap(({ groups }) => groups)
      .filter(({ group }) => !skip(fromText(group)))
      .reduce((earliest, each) => Math.min(earliest, each.tryAt), Infinity);
    return Math.max(0, tryAt - performance.now());
  }

  /** Forgets groups that have had nothing due for a while. */
  forgetOld(): void {
    const now = performance.now();
    if (now - this.#forgotAt < REMEMBERED_MS) return;
    this.#forgotAt = now;
    for (const [group, { tryAt, heardAt }] of this.#groups)
      if (tryAt === Infinity && now - heardAt > REMEMBERED_MS) this.#groups.delete(group);
  }
}

/** The groups of a share that may take more places. */
interface ShareOfGroups {
  readonly held: number;
  readonly groups: readonly ReadyGroup[];
}

/** The shares that may take more places, the one served longest ago first. */
function sharesOf(ready: readonly ReadyGroup[], places: SharedPlaces): readonly ShareOfGroups[] {
  return [...Map.groupBy(ready, ({ share }) => share)]
    .map(([share, groups]) => ({
      held: places.heldBy(share),
      groups,
      servedNumber: groups.reduce((latest, { servedNumber }) => Math.max(latest, servedNumber), 0),
    }))
    .filter(({ held }) => held < places.free)
    .sort((a, b) => a.servedNumber - b.servedNumber);
}
