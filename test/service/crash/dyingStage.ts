import { renameSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import type { DyingPoint } from './dyingFiles.ts';

const child = fileURLToPath(new URL('./dyingService.child.ts', import.meta.url));

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/**
 * A service that each test of the file kills and starts again, a receiver of its events, and what
 * both must agree on afterwards. No text may be written twice.
 */
export class DyingStage {
  receiver!: EventReceiver;
  service!: ServiceProcess;
  /** Called when a request has arrived, before it is answered; false: it is never answered. */
  onRequest: (text: string) => boolean = () => true;
  #hook!: string;
  #tls!: TlsFiles;
  #scratch!: string;
  #written = 0;

  constructor() {
    beforeAll(async () => {
      this.#tls = await writeTlsFiles(await sharedTestCa());
      this.#scratch = await mkdtemp(join(tmpdir(), 'conversation-dying-'));
      this.receiver = await startEventReceiver((request, response) => {
        if (this.onRequest(String(JSON.parse(request.rawBody.toString()).message.text)))
          response.end('ok');
      });
      this.service = await startServiceProcess({
        script: child,
        caFile: this.#tls.caFile,
        env: { DIE_AT: this.#pointFile },
      });
      this.#hook = (await this.receiver.subscribe(this.service, 'message.received')).id;
    });
    beforeEach(() => {
      this.onRequest = () => true;
    });
    afterAll(async () => {
      await this.service?.close();
      await this.receiver?.close();
      await rm(this.#scratch, { recursive: true, force: true });
      await this.#tls?.remove();
    });
  }

  get #pointFile(): string {
    return join(this.#scratch, 'point.json');
  }

  customer(): Promise<ChatCustomer> {
    return chatCustomer(this.service.url);
  }

  /** From now on the service dies at this point. */
  dieAt(point: DyingPoint): void {
    writeFileSync(`${this.#pointFile}.tmp`, JSON.stringify(point));
    renameSync(`${this.#pointFile}.tmp`, this.#pointFile);
  }

  /** Writes a text. @returns it */
  async write(customer: ChatCustomer, length: number): Promise<string> {
    const text = `${(this.#written += 1)} ${'x'.repeat(length)}`;
    await customer.write(text);
    return text;
  }

  /**
   * @returns what was acknowledged of texts that are written one after the other until the service
   * is gone
   */
  async writeUntilDead(customer: ChatCustomer, length: number): Promise<string[]> {
    const acknowledged: string[] = [];
    for (let n = 1; n <= 150 && isAlive(this.service.pid); n += 1)
      await this.write(customer, length).then(
        (text) => acknowledged.push(text),
        () => {},
      );
    await this.untilDead();
    return acknowledged;
  }

  async untilDead(): Promise<void> {
    await waitFor('the service to die', () => !isAlive(this.service.pid));
  }

  async startAgain(): Promise<void> {
    await rm(this.#pointFile, { force: true });
    await this.service.crashAndRestart();
  }

  /** What was sent with this text, once or again. */
  sent(text: string): readonly { id: string }[] {
    return this.receiver.payloads().filter(({ message }) => message.text === text);
  }

  async expectNothingLost(customer: ChatCustomer, acknowledged: readonly string[]): Promise<void> {
    const stored = (await customer.api.get('/api/chat/messages?limit=200')).body.data.map(
      ({ text }: { text: string }) => text,
    );
    expect(stored).toEqual(expect.arrayContaining([...acknowledged]));
    await waitFor('all deliveries to end', async () => {
      const path = `/api/hooks/${this.#hook}/deliveries?status=pending`;
      return (await this.service.api.get(path)).body.data.length === 0;
    });
    const sent = Map.groupBy(this.receiver.payloads(), ({ message }) => String(message.text));
    expect([...sent.keys()]).toEqual(expect.arrayContaining([...acknowledged]));
    // Also of what was stored and not acknowledged.
    for (const same of sent.values()) expect(new Set(same.map(({ id }) => id)).size).toBe(1);
    expect(this.receiver.faults).toEqual([]);
  }
}
