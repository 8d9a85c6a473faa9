import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { readConfig } from '../../../service/src/app/config.ts';
import { startService, type Service } from '../../../service/src/app/service.ts';
import { apiClient, chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import {
  startTestService,
  TEST_API_KEY,
  testSettings,
  type TestService,
} from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { dyingFiles, type DyingPoint } from './dyingFiles.ts';

/**
 * What a service that is killed at a point leaves: its folder as it was then, the texts that it had
 * acknowledged, and how many requests it had sent.
 */
interface Death {
  readonly folder: string;
  readonly acknowledged: readonly string[];
  readonly requests: number;
}

/**
 * A service whose folder is copied at points of its dealings with the disk. A process that is killed
 * leaves the same: what it has written stays, and nothing else of it. That a real kill leaves no less
 * is shown by test/service/store/kill.test.ts.
 */
export class DyingStage {
  receiver!: EventReceiver;
  customer!: ChatCustomer;
  #service!: TestService;
  #hook!: string;
  #scratch!: string;
  #acknowledged: string[] = [];
  readonly #files = dyingFiles();

  constructor() {
    beforeAll(async () => {
      this.#scratch = await mkdtemp(join(tmpdir(), 'conversation-dying-'));
      this.receiver = await startEventReceiver();
      this.#service = await startTestService({
        ca: this.receiver.ca,
        // Snapshots are early, so that many writes meet one.
        store: { files: this.#files, snapshotAfterBytes: 30_000 },
      });
      this.#hook = (await this.receiver.subscribe(this.#service, 'message.received')).id;
      this.customer = await chatCustomer(this.#service.url);
    });
    afterAll(async () => {
      await this.#service?.stop();
      await this.receiver?.close();
      await rm(this.#scratch, { recursive: true, force: true });
    });
  }

  /** Writes a text that was not written before. */
  async write(text: string): Promise<void> {
    await this.customer.write(text);
    this.#acknowledged.push(text);
  }

  /** Replaces one large value, so that the journal soon needs a snapshot, which stays small. */
  async fillJournal(): Promise<void> {
    const instructions = crypto.randomUUID().padEnd(12_000, 'x');
    await this.#service.api.patch('/api/agent', { instructions });
  }

  /**
   * @param write is called again and again until the service has been at the point
   * @returns what a kill at that point would have left, once the service itself has sent everything
   */
  async dieAt(point: DyingPoint, write: (n: number) => Promise<void>): Promise<Death> {
    let death: Death | null = null;
    this.#files.at(point, () => {
      const folder = join(this.#scratch, crypto.randomUUID());
      cpSync(this.#service.folder, folder, {
        recursive: true,
        filter: (path) => !path.endsWith('/lock'),
      });
      const requests = this.receiver.requests.length;
      death = { folder, acknowledged: [...this.#acknowledged], requests };
    });
    for (let n = 1; n <= 100 && death === null; n += 1) await write(n);
    const left = await waitFor('the service to be at the point', () => death as Death | null);
    await this.#untilAllIsSent(this.#service.url);
    return left;
  }

  /**
   * Starts a service on what a killed one left.
   * @param more is written to it
   * @returns the texts that both have sent, one for each request
   */
  async expectNothingLost(left: Death, more: readonly string[] = []): Promise<string[]> {
    const requestsBefore = this.receiver.requests.length;
    const settings = testSettings({ env: { DATA_DIR: left.folder } });
    const started: Service = await startService(readConfig(settings), { ca: this.receiver.ca });
    try {
      const customer = apiClient(started.url, this.customer.token);
      for (const text of more)
        await customer.post('/api/chat/messages', { text, client_message_id: text });
      const acknowledged = [...left.acknowledged, ...more];
      const stored = (await customer.get('/api/chat/messages?limit=200')).body.data.map(
        ({ text }: { text: string }) => text,
      );
      expect(stored).toEqual(expect.arrayContaining(acknowledged));
      await this.#untilAllIsSent(started.url);
      const all = this.receiver.payloads();
      const sent = [...all.slice(0, left.requests), ...all.slice(requestsBefore)].map(
        ({ message }) => String(message.text),
      );
      expect(sent).toEqual(expect.arrayContaining(acknowledged));
      // One id for each text, also for those that were stored and not acknowledged.
      for (const same of Map.groupBy(all, ({ message }) => message.text).values())
        expect(new Set(same.map(({ id }) => id)).size).toBe(1);
      expect(this.receiver.faults).toEqual([]);
      return sent;
    } finally {
      await started.stop();
    }
  }

  #untilAllIsSent(url: string): Promise<boolean> {
    const path = `/api/hooks/${this.#hook}/deliveries?status=pending`;
    return waitFor(
      'all deliveries to end',
      async () => (await apiClient(url, TEST_API_KEY).get(path)).body.data.length === 0,
    );
  }
}
