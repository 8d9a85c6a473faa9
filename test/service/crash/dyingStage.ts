import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import type { DyingPoint } from './dyingFiles.ts';

const child = fileURLToPath(new URL('./dyingService.child.ts', import.meta.url));

/** Nothing is ever done there. */
export const NEVER: DyingPoint = { operation: 'open', file: 'no such file', moment: 'before' };

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/**
 * A service that is killed at a point, a receiver of its events, and what both must agree on
 * afterwards. New for each test of the file.
 */
export class DyingStage {
  receiver!: EventReceiver;
  service!: ServiceProcess;
  /** Its existence lets the service die at its point. */
  armed!: string;
  /** Called when a request has arrived, before it is answered; false: it is never answered. */
  onRequest: (text: string) => boolean = () => true;
  #tls!: TlsFiles;
  #scratch!: string;

  constructor() {
    beforeAll(async () => {
      this.#tls = await writeTlsFiles(await sharedTestCa());
    });
    afterAll(() => this.#tls.remove());
    beforeEach(async () => {
      this.#scratch = await mkdtemp(join(tmpdir(), 'conversation-armed-'));
      this.armed = join(this.#scratch, 'armed');
      this.onRequest = () => true;
      this.receiver = await startEventReceiver((request, response) => {
        if (this.onRequest(String(JSON.parse(request.rawBody.toString()).message.text)))
          response.end('ok');
      });
    });
    afterEach(async () => {
      await this.service?.close();
      await this.receiver.close();
      await rm(this.#scratch, { recursive: true, force: true });
    });
  }

  async start(point: DyingPoint): Promise<ChatCustomer> {
    const env = { DIE_AT: JSON.stringify(point), DIE_ARMED: this.armed };
    this.service = await startServiceProcess({ script: child, caFile: this.#tls.caFile, env });
    await this.receiver.subscribe(this.service, 'message.received');
    return chatCustomer(this.service.url);
  }

  /**
   * @returns what was acknowledged of texts that are written one after the other until the service
   * is gone
   */
  async writeUntilDead(customer: ChatCustomer, length: number): Promise<string[]> {
    const acknowledged: string[] = [];
    for (let n = 1; n <= 150 && isAlive(this.service.pid); n += 1) {
      const text = `${n} ${'x'.repeat(length)}`;
      const isTaken = await customer.write(text).then(
        () => true,
        () => false,
      );
      if (isTaken) acknowledged.push(text);
    }
    await this.untilDead();
    return acknowledged;
  }

  async untilDead(): Promise<void> {
    await waitFor('the service to die', () => !isAlive(this.service.pid));
  }

  async startAgain(): Promise<void> {
    await rm(this.armed, { force: true });
    await this.service.crashAndRestart();
  }

  async expectNothingLost(customer: ChatCustomer, acknowledged: readonly string[]): Promise<void> {
    const stored = (await customer.api.get('/api/chat/messages?limit=200')).body.data.map(
      ({ text }: { text: string }) => text,
    );
    expect(stored).toEqual(expect.arrayContaining([...acknowledged]));
    const { receiver } = this;
    await waitFor('every acknowledged event', () => {
      const arrived = new Set(receiver.payloads().map(({ message }) => String(message.text)));
      return acknowledged.every((text) => arrived.has(text));
    });
    const idsByText = new Map<string, Set<string>>();
    for (const { id, message } of receiver.payloads())
      idsByText.set(message.text, (idsByText.get(message.text) ?? new Set()).add(id));
    for (const ids of idsByText.values()) expect(ids.size).toBe(1);
    expect(receiver.faults).toEqual([]);
  }
}
