import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import type { DyingPoint } from './dyingFiles.ts';

const child = fileURLToPath(new URL('./dyingService.child.ts', import.meta.url));
const NEVER: DyingPoint = { operation: 'open', file: 'no such file', moment: 'before' };

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a service that is killed', () => {
  let tls: TlsFiles;
  let scratch: string;
  let armed: string;
  let receiver: EventReceiver;
  let service: ServiceProcess;
  /** Called when a request has arrived, before it is answered; false: it is never answered. */
  let onRequest: (text: string) => boolean;

  beforeAll(async () => {
    tls = await writeTlsFiles(await sharedTestCa());
  });
  afterAll(() => tls.remove());
  beforeEach(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'conversation-armed-'));
    armed = join(scratch, 'armed');
    onRequest = () => true;
    receiver = await startEventReceiver((request, response) => {
      if (onRequest(String(JSON.parse(request.rawBody.toString()).message.text))) response.end('ok');
    });
  });
  afterEach(async () => {
    await service?.close();
    await receiver.close();
    await rm(scratch, { recursive: true, force: true });
  });

  const start = async (point: DyingPoint): Promise<ChatCustomer> => {
    service = await startServiceProcess({ script: child, caFile: tls.caFile, env: { DIE_AT: JSON.stringify(point), DIE_ARMED: armed } });
    await receiver.subscribe(service, 'message.received');
    return chatCustomer(service.url);
  };
  /** What was acknowledged of texts that are written one after the other until the service is gone. */
  const writeUntilDead = async (customer: ChatCustomer, length: number): Promise<string[]> => {
    const acknowledged: string[] = [];
    for (let n = 1; n <= 400 && isAlive(service.pid); n += 1) {
      const text = `${n} ${'x'.repeat(length)}`;
      const taken = await customer.write(text).then(() => true, () => false);
      if (taken) acknowledged.push(text);
    }
    await waitFor('it is dead', () => !isAlive(service.pid));
    return acknowledged;
  };
  const startAgain = async () => {
    await rm(armed, { force: true });
    await service.crashAndRestart();
  };
  const expectNothingLost = async (customer: ChatCustomer, acknowledged: readonly string[]) => {
    const path = '/api/chat/messages?limit=200';
    const stored = (await customer.api.get(path)).body.data.map(({ text }: { text: string }) => text);
    expect(stored).toEqual(expect.arrayContaining(acknowledged.slice(-stored.length)));
    const arrived = () => new Set(receiver.payloads().map(({ message }) => String(message.text)));
    await waitFor('every acknowledged event', () => acknowledged.every((text) => arrived().has(text)));
    const idsByText = new Map<string, Set<string>>();
    for (const { id, message } of receiver.payloads()) idsByText.set(message.text, (idsByText.get(message.text) ?? new Set()).add(id));
    for (const ids of idsByText.values()) expect(ids.size).toBe(1);
    expect(receiver.faults).toEqual([]);
  };

  const whileWriting: [string, DyingPoint][] = [
    ['before the journal write', { operation: 'write', file: 'journal', moment: 'before' }],
    ['with half a frame written', { operation: 'write', file: 'journal', moment: 'half' }],
    ['between the journal write and its fsync', { operation: 'sync', file: 'journal', moment: 'before' }],
    ['between the fsync and the answer', { operation: 'sync', file: 'journal', moment: 'after' }],
  ];
  it.each(whileWriting)('%s loses nothing acknowledged', async (_when, point) => {
    const customer = await start(point);
    await customer.write('before');
    await waitFor('the first event', () => receiver.payloads().length === 1);
    await writeFile(armed, '');
    const acknowledged = await writeUntilDead(customer, 100);
    await startAgain();
    await expectNothingLost(customer, ['before', ...acknowledged]);
  });

  const duringASnapshot: [string, DyingPoint][] = [
    ['as the next journal begins', { operation: 'sync', file: 'journal-2', moment: 'before' }],
    ['in the middle of it', { operation: 'write', file: 'snapshot-2', moment: 'half' }],
    ['when it is written and not yet published', { operation: 'rename', file: 'snapshot-2', moment: 'before' }],
    ['right after its publication', { operation: 'rename', file: 'snapshot-2', moment: 'after' }],
    ['before the old files are removed', { operation: 'remove', file: 'journal-1', moment: 'before' }],
    ['in the middle of removing the old files', { operation: 'remove', file: 'journal-1', moment: 'after' }],
  ];
  it.each(duringASnapshot)('during a snapshot, %s, loses nothing acknowledged', async (_when, point) => {
    await writeFile(armed, '');
    const customer = await start(point);
    const acknowledged = await writeUntilDead(customer, 3_000);
    expect(acknowledged.length).toBeGreaterThan(3);
    await startAgain();
    await expectNothingLost(customer, acknowledged);
  });

  it('in the middle of a POST sends it again under the same id', async () => {
    const customer = await start(NEVER);
    let killed = false;
    onRequest = () => {
      if (killed) return true;
      killed = process.kill(service.pid, 'SIGKILL');
      return false;
    };
    await customer.write('cut off');
    await waitFor('it is dead', () => !isAlive(service.pid));
    await startAgain();
    await waitFor('the second sending', () => receiver.payloads().length === 2);
    await expectNothingLost(customer, ['cut off']);
  });

  const afterTheAnswer: [string, DyingPoint, number][] = [
    ['before anything of its record is written', { operation: 'write', file: 'journal', moment: 'before' }, 2],
    ['before the record is on the disk for certain', { operation: 'sync', file: 'journal', moment: 'before' }, 1],
    ['right after the record', { operation: 'sync', file: 'journal', moment: 'after' }, 1],
  ];
  it.each(afterTheAnswer)('between the 2xx and its record, %s, repeats it with the same id or not at all', async (_when, point, sendings) => {
    const customer = await start(point);
    let isFirst = true;
    onRequest = () => {
      if (isFirst) writeFileSync(armed, '');
      isFirst = false;
      return true;
    };
    await customer.write('answered');
    await waitFor('it is dead', () => !isAlive(service.pid));
    await startAgain();
    await customer.write('after');
    await waitFor('the next event', () => receiver.payloads().at(-1)?.message.text === 'after');
    const sent = () => receiver.payloads().filter(({ message }) => message.text === 'answered').length;
    // What reached the page cache survives the death of a process: then its record counts.
    await waitFor('the repeat', () => sent() >= sendings);
    expect(sent()).toBe(sendings);
    await expectNothingLost(customer, ['answered', 'after']);
  });
});
