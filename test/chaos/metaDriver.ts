import { setTimeout as sleep } from 'node:timers/promises';
import {
  deliver,
  metaBody,
  metaEntry,
  metaValue,
  newWamid,
  type ConnectedNumber,
} from '../helpers/meta.ts';

/** A message that a customer writes. */
export interface PlannedMessage {
  readonly id: string;
  readonly phone: string;
  readonly text: string;
  /** Milliseconds after the start. */
  readonly dueAt: number;
}

export interface DriverReport {
  /** POSTs that were answered with 200: how long each took, and how many messages it held. */
  readonly answers: readonly { readonly ms: number; readonly messages: number }[];
  /** POSTs that got no 200 and were sent again. */
  readonly repeated: number;
  /** POSTs that were sent twice on purpose. */
  readonly doubled: number;
  /** From the start to the 200 of the last message. */
  readonly tookMs: number;
}

export interface MetaDriver {
  /** Settles once every message has been answered with 200. */
  run(): Promise<DriverReport>;
  readonly acknowledged: number;
  /**
   * To be called when the service is killed. What had its 200 by then is never sent again, since
   * that could hide a loss.
   */
  noteCrash(): void;
}

/** How long messages may wait for a large POST to fill. */
const GATHER_MS = 1500;
const POSTS_AT_ONCE = 32;
const TICK_MS = 5;
/** Meta waits far longer; a test cannot. */
const PATIENCE_MS = 10_000;
const LATEST_DOUBLE_MS = 3000;

/** Plans messages of random contacts, so many a second. @param random from 0 to 1 */
export function planMessages({
  count,
  perSecond,
  phones,
  random,
}: {
  count: number;
  perSecond: number;
  phones: readonly string[];
  random: () => number;
}): PlannedMessage[] {
  const written = new Map<string, number>();
  return Array.from({ length: count }, (_, n) => {
    const phone = phones[Math.floor(random() * phones.length)]!;
    const number = (written.get(phone) ?? 0) + 1;
    written.set(phone, number);
    return { id: newWamid(), phone, text: `message ${number}`, dueAt: (n * 1000) / perSecond };
  });
}

/**
 * Plays Meta: delivers planned messages in POSTs of 1 to 300, again until each has its 200, some
 * twice on purpose. A contact's next message goes out once the one before has been acknowledged, or
 * beside it in the same POST.
 */
export function createMetaDriver(
  url: string,
  number: ConnectedNumber,
  plan: readonly PlannedMessage[],
  random: () => number,
): MetaDriver {
  const waiting = [...plan];
  const busy = new Set<string>();
  const answers: { ms: number; messages: number }[] = [];
  const posts = new Set<Promise<void>>();
  const doubles = new Set<Promise<void>>();
  let [acknowledged, repeated, doubled, crashes, lastAt] = [0, 0, 0, 0, 0];
  let startedAt = 0;
  let failure: unknown;
  let postSize = drawSize(random);

  /** Takes the messages of the next POST: those that are due, of contacts with nothing on its way. */
  function takeDue(): PlannedMessage[] {
    const now = performance.now() - startedAt;
    const taken: PlannedMessage[] = [];
    const passed: PlannedMessage[] = [];
    for (const message of waiting) {
      if (message.dueAt > now || taken.length === postSize) break;
      if (busy.has(message.phone)) passed.push(message);
      else taken.push(message);
    }
    const oldest = taken[0];
    if (!oldest) return [];
    const readCount = taken.length + passed.length;
    const isFull = taken.length === postSize;
    const isLast = readCount === waiting.length;
    if (!isFull && !isLast && now - oldest.dueAt < GATHER_MS) return [];
    waiting.splice(0, readCount, ...passed);
    return taken;
  }

  async function post(messages: readonly PlannedMessage[]): Promise<void> {
    for (const { phone } of messages) busy.add(phone);
    const body = JSON.stringify(bodyOf(messages, random));
    if (random() < 0.05) double(body, 0);
    for (let attempts = 1; !(await postOnce(body, messages.length)); attempts++) {
      repeated += 1;
      await sleep(random() * Math.min(500, 50 * 2 ** attempts));
    }
    acknowledged += messages.length;
    lastAt = performance.now();
    for (const { phone } of messages) busy.delete(phone);
    if (random() < 0.1) double(body, random() * LATEST_DOUBLE_MS);
  }

  /** Sends a POST once. @returns whether it was answered with 200 */
  async function postOnce(body: string, messages: number): Promise<boolean> {
    const begunAt = performance.now();
    const { status } = await Promise.race([
      deliver(url, number, body).catch(() => ({ status: 0 })),
      sleep(PATIENCE_MS, { status: 0 }, { ref: false }),
    ]);
    assertExpected(status);
    if (status === 200) answers.push({ ms: performance.now() - begunAt, messages });
    return status === 200;
  }

  /** Sends a body once more, whether the first was answered or not, unless the service crashes first. */
  function double(body: string, afterMs: number): void {
    const crashesBefore = crashes;
    const doubling = (async () => {
      await sleep(afterMs);
      if (crashes !== crashesBefore) return;
      doubled += 1;
      const answer = await deliver(url, number, body).catch(() => null);
      if (answer) assertExpected(answer.status);
    })().catch((error: unknown) => void (failure = error));
    doubles.add(doubling);
    void doubling.finally(() => doubles.delete(doubling));
  }

  return {
    get acknowledged() {
      return acknowledged;
    },
    noteCrash: () => void (crashes += 1),
    async run() {
      startedAt = performance.now();
      while ((waiting.length > 0 || posts.size > 0) && failure === undefined) {
        const messages = posts.size < POSTS_AT_ONCE ? takeDue() : [];
        if (messages.length === 0) {
          await sleep(TICK_MS);
          continue;
        }
        postSize = drawSize(random);
        const posting = post(messages).catch((error: unknown) => void (failure = error));
        posts.add(posting);
        void posting.finally(() => posts.delete(posting));
      }
      await Promise.all(doubles);
      if (failure !== undefined) throw failure;
      return { answers, repeated, doubled, tookMs: lastAt - startedAt };
    },
  };
}

/** @throws Error for a status that Meta must never get, since everything it sends is valid */
function assertExpected(status: number): void {
  if (status !== 0 && status !== 200 && status !== 503)
    throw new Error(`the service answered ${status}`);
}

/** Draws how many messages a POST holds: mostly one, sometimes a few, now and then hundreds. */
function drawSize(random: () => number): number {
  const kind = random();
  if (kind < 0.85) return 1;
  return kind < 0.985 ? 2 + Math.floor(random() * 19) : 100 + Math.floor(random() * 201);
}

/**
 * Puts messages into the body of a POST: all in one change, or one change for each contact, in one or
 * two entries. The messages of a contact stay in order.
 */
function bodyOf(messages: readonly PlannedMessage[], random: () => number): unknown {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const valueOf = (some: readonly PlannedMessage[]) =>
    metaValue({
      contacts: [...new Set(some.map(({ phone }) => phone))].map((phone) => ({
        profile: { name: `Contact ${phone.slice(-4)}` },
        wa_id: phone,
      })),
      messages: some.map(({ id, phone, text }) => ({
        from: phone,
        id,
        timestamp,
        type: 'text',
        text: { body: text },
      })),
    });
  if (random() < 0.5) return metaBody(valueOf(messages));
  const values = [...Map.groupBy(messages, ({ phone }) => phone).values()].map(valueOf);
  const inFirst = Math.ceil(values.length * random());
  const entries = [values.slice(0, inFirst), values.slice(inFirst)].filter(
    (each) => each.length > 0,
  );
  return { object: 'whatsapp_business_account', entry: entries.map((each) => metaEntry(...each)) };
}
