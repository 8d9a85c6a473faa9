import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { quantile } from '../bench/statistics.ts';
import { startEventReceiver, type EventReceiver } from '../helpers/eventReceiver.ts';
import { randomFrom } from '../helpers/flakyProxy.ts';
import { connectNumber } from '../helpers/meta.ts';
import { memoryOf } from '../helpers/processMemory.ts';
import { startServiceProcess, type ServiceProcess } from '../helpers/serviceProcess.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../helpers/tls.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { print } from './outcome.ts';
import {
  createMetaDriver,
  planMessages,
  type DriverReport,
  type PlannedMessage,
} from './metaDriver.ts';

const SECONDS = Number(process.env.CHAOS_SECONDS ?? 60);
const SEED = Number(process.env.CHAOS_SEED ?? randomInt(1_000_000));
const PER_SECOND = 200;
const CONTACTS = 1000;
const CRASHES = 2;
const READERS = 8;

/** The unit of CPU time in /proc: a hundredth of a second. */
const TICK_MS = 10;

// Argentine mobile numbers.
const phones = Array.from({ length: CONTACTS }, (_, n) => `549115555${String(n).padStart(4, '0')}`);

describe(`${PER_SECOND} WhatsApp messages a second for ${SECONDS} s from ${CONTACTS} contacts, with ${CRASHES} crashes (seed ${SEED})`, () => {
  let receiver: EventReceiver;
  let tls: TlsFiles;
  let service: ServiceProcess;
  let plan: PlannedMessage[];
  let report: DriverReport;

  beforeAll(async () => {
    receiver = await startEventReceiver();
    tls = await writeTlsFiles(await sharedTestCa());
    service = await startServiceProcess({ caFile: tls.caFile });
    await receiver.subscribe(service, 'message.received');
    const number = await connectNumber(service.api);

    const random = randomFrom(SEED);
    plan = planMessages({ count: PER_SECOND * SECONDS, perSecond: PER_SECOND, phones, random });
    const driver = createMetaDriver(service.url, number, plan, random);
    const restarts: { downMs: number; after: number; figures: string }[] = [];
    const crashDuringLoad = async () => {
      for (let n = 1; n <= CRASHES; n++) {
        await sleep((SECONDS * 1000) / (CRASHES + 1));
        const after = driver.acknowledged;
        const figures = await figuresOf(service.pid);
        const killedAt = performance.now();
        driver.noteCrash();
        await service.crashAndRestart();
        restarts.push({ downMs: performance.now() - killedAt, after, figures });
      }
    };
    [report] = await Promise.all([driver.run(), crashDuringLoad()]);
    print(
      `${plan.length} messages in ${(report.tookMs / 1000).toFixed(1)} s: ${((plan.length * 1000) / report.tookMs).toFixed(0)} a second; ${report.answers.length} POSTs answered with 200, ${report.repeated} repeated, ${report.doubled} doubled`,
      `answer to a POST of 1: ${spread(report.answers.filter(({ messages }) => messages === 1))}`,
      `answer to a POST of 100 and more: ${spread(report.answers.filter(({ messages }) => messages >= 100))}`,
      ...restarts.map(
        ({ downMs, after, figures }) =>
          `SIGKILL after ${after} messages (${figures}): ready again ${downMs.toFixed(0)} ms later`,
      ),
      `at the end: ${await figuresOf(service.pid)}`,
    );
  });
  afterAll(async () => {
    await service?.close();
    await receiver?.close();
    await tls?.remove();
  });

  it('came in POSTs of one and of many, some repeated and some doubled', () => {
    const sizes = report.answers.map(({ messages }) => messages);
    expect(Math.min(...sizes)).toBe(1);
    expect(Math.max(...sizes)).toBeGreaterThanOrEqual(100);
    expect(report.repeated).toBeGreaterThan(0);
    expect(report.doubled).toBeGreaterThan(0);
  });

  it('stored each message once, in the order of its contact, and lost none', async () => {
    const stored = new Map<string, string[]>();
    const byPhone = Map.groupBy(plan, ({ phone }) => phone);
    const left = byPhone.keys(); // one iterator for all readers: each takes the next phone
    const read = async () => {
      for (const phone of left) stored.set(phone, await messageIdsOf(service, phone));
    };
    await Promise.all(Array.from({ length: READERS }, read));
    const wrong = [...byPhone].filter(
      ([phone, messages]) =>
        stored.get(phone)!.join(' ') !== messages.map(({ id }) => id).join(' '),
    );
    expect(
      wrong.map(([phone, messages]) => ({
        phone,
        planned: messages.map(({ id }) => id),
        stored: stored.get(phone),
      })),
    ).toEqual([]);
  });

  it('emitted message.received once for each message, and delivered it', async () => {
    const startedAt = performance.now();
    await waitFor(
      'every event',
      () =>
        new Set(receiver.requests.map(({ headers }) => headers['x-service-delivery'])).size >=
        plan.length,
      { timeoutMs: 120_000, everyMs: 250 },
    );
    const eventsOf = new Map<string, Set<string>>();
    for (const { id, message } of receiver.payloads())
      eventsOf.set(
        message.channel_message_id,
        (eventsOf.get(message.channel_message_id) ?? new Set()).add(id),
      );
    expect([...eventsOf.keys()].sort()).toEqual(plan.map(({ id }) => id).sort());
    expect([...eventsOf].filter(([, events]) => events.size > 1)).toEqual([]);
    expect(receiver.faults).toEqual([]);
    print(
      `${receiver.requests.length} deliveries of ${plan.length} events; the last ${((performance.now() - startedAt) / 1000).toFixed(1)} s after all messages were read`,
    );
  });
});

/** Reads a contact's message ids through the API, as an automation would. */
async function messageIdsOf({ api }: ServiceProcess, phone: string): Promise<string[]> {
  const found = await api.post('/api/contacts/lookup', { phone: `+${phone}` });
  if (found.status === 404) return [];
  const {
    messages,
    message_count: count,
    previous_conversation_id: previous,
  } = (await api.get(`/api/conversations/${found.body.id}?messages=200`)).body;
  expect([messages.length, previous]).toEqual([count, null]);
  return messages.map(({ channel_message_id: id }: { channel_message_id: string }) => id);
}

const spread = (answers: DriverReport['answers']): string => {
  const times = answers.map(({ ms }) => ms);
  return `${answers.length} times, p50 ${quantile(times, 0.5).toFixed(0)} ms, p95 ${quantile(times, 0.95).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`;
};

/** Memory, and CPU time since the process began, where the system tells them (Linux). */
async function figuresOf(pid: number): Promise<string> {
  const { now, most } = await memoryOf(pid);
  const stat = (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')).split(' ');
  const cpuMs = (Number(stat[13]) + Number(stat[14])) * TICK_MS;
  return `${now} MiB, at most ${most} MiB, ${(cpuMs / 1000).toFixed(1)} s of CPU`;
}
