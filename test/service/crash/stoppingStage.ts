import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { readConfig } from '../../../service/src/app/config.ts';
import { startService, type Service } from '../../../service/src/app/service.ts';
import { apiClient } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { BARE_ENV, MAIN } from '../../helpers/program.ts';
import { NO_LIMITS } from '../../helpers/settings.ts';
import { freshStorage, type Storage } from '../../helpers/storage.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';

export const KEY = `cs_live_${'S'.repeat(32)}`;

/**
 * A service that is stopped, started again on the same data, and a receiver of its events. New for
 * each test of the file.
 */
export class StoppingStage {
  storage!: Storage;
  receiver!: EventReceiver;
  child!: ChildProcess;
  /** What the service has written to its standard output. */
  out = '';
  /** Called for each request that arrives; its answer is sent when this calls `end`. */
  answer: (end: () => void) => void = (end) => end();
  #tls!: TlsFiles;
  #here: Service | null = null;

  constructor() {
    beforeAll(async () => {
      this.#tls = await writeTlsFiles(await sharedTestCa());
    });
    afterAll(() => this.#tls.remove());
    beforeEach(async () => {
      this.storage = await freshStorage();
      this.answer = (end) => end();
      this.receiver = await startEventReceiver((_request, response) =>
        this.answer(() => void response.end('ok')),
      );
    });
    afterEach(async () => {
      if (this.child.exitCode === null && this.child.signalCode === null) {
        this.child.kill('SIGKILL');
        await once(this.child, 'exit');
      }
      await this.#here?.stop();
      this.#here = null;
      await this.receiver.close();
      await this.storage.remove();
    });
  }

  /** Starts the service as a process. @returns its address */
  async start(env: Record<string, string> = {}, script = MAIN): Promise<string> {
    this.out = '';
    this.child = spawn(process.execPath, [script], {
      env: { ...BARE_ENV, NODE_EXTRA_CA_CERTS: this.#tls.caFile, ...this.#settings, ...env },
    });
    this.child.stdout!.on('data', (chunk) => (this.out += String(chunk)));
    return waitFor('the start', () => /"url":"([^"]+)"/.exec(this.out)?.[1]);
  }

  /** Starts the service in this process, in a tenth of the time. @returns its address */
  async startHere(): Promise<string> {
    this.#here = await startService(readConfig({ ...this.#settings, LOG_LEVEL: 'silent' }), {
      ca: this.receiver.ca,
    });
    return this.#here.url;
  }

  get #settings(): Record<string, string> {
    return {
      PORT: '0',
      ...this.storage.env,
      BOOTSTRAP_API_KEY: KEY,
      ALLOWED_NETWORKS: '127.0.0.0/8',
      ...NO_LIMITS,
    };
  }

  /** Sends SIGTERM. @returns how the process ended and how long that took */
  async stop(): Promise<{ code: number | null; ms: number }> {
    const begun = performance.now();
    const ended = once(this.child, 'exit') as Promise<[number | null, string | null]>;
    this.child.kill('SIGTERM');
    const [code] = await ended;
    return { code, ms: performance.now() - begun };
  }

  async deliveries(
    url: string,
  ): Promise<{ status: string; attempts: { status_code: number | null }[] }[]> {
    const api = apiClient(url, KEY);
    const [hook] = (await api.get('/api/hooks')).body.data;
    return (await api.get(`/api/hooks/${hook.id}/deliveries`)).body.data;
  }
}
