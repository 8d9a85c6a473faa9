// The built service as a real process on a free port, with a store of its own: a temporary folder
// or a fresh schema.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../../service/src/app/config.ts';
import { startService, type Service } from '../../service/src/app/service.ts';
import { freePort, MAIN, startProgram, tailOf, type Program } from './program.ts';
import { apiClient, type ApiClient } from './apiClient.ts';
import { browserless, MEMBER } from './browserless.ts';
import { NO_LIMITS, randomApiKey } from './settings.ts';
import { freshStorage, type Storage } from './storage.ts';

export interface ServiceOptions {
  /** The authority that its targets' certificates come from. */
  caFile?: string;
  /** Added to the settings that every test has: local targets, short retries, no rate limits. */
  env?: Record<string, string>;
  /** The main file of another build; by default that of service/dist. */
  script?: string;
  /** Keeps the default rate limits. */
  hasLimits?: boolean;
  /**
   * When given, the service starts without a setting that says what may be called, and this sets it
   * up as a person would.
   * @param link the set-up link that the first start prints
   * @returns the API key that the service shows afterwards
   */
  setUp?: (link: string) => Promise<string>;
  /** Fills its store before the first start. @param store the variables that name it */
  prepare?: (store: Storage['env']) => Promise<void>;
  /** Starts it by another program, such as one that gives it a name server of its own. */
  launcher?: readonly [string, ...string[]];
}

export interface ServiceProcess {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly apiKey: string;
  readonly workspace: string;
  readonly logFile: string;
  readonly pid: number;
  /** Calls with the workspace's key; every answer is checked against the contract. */
  readonly api: ApiClient;
  /** SIGTERM, then a new process on the same port and data. */
  restart(): Promise<void>;
  /** Restarts it with its clock `byMs` further ahead, as if that time had passed. */
  restartWithClockAhead(byMs: number): Promise<void>;
  /** SIGKILL, lets its leases run out, then a new process on the same port and data. */
  crashAndRestart(): Promise<void>;
  /**
   * SIGKILL, lets its leases run out, then the service goes on in this process, on the same port and
   * data, with nothing in the log. For the last crash of a test: a process costs ten times as much.
   */
  crashAndStartHere(): Promise<void>;
  /** Stops it and removes what it stored. */
  close(): Promise<void>;
}

/** Starts the service; it is ready when this resolves. */
export async function startServiceProcess({
  caFile,
  env = {},
  script = MAIN,
  hasLimits = false,
  setUp,
  prepare,
  launcher,
}: ServiceOptions = {}): Promise<ServiceProcess> {
  const storage = await freshStorage('data');
  const { folder } = storage;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = join(folder, 'service.log');
  let apiKey = randomApiKey();
  const workspace = 'demo';

  const settings = {
    HOST: '127.0.0.1',
    PORT: String(port),
    ...storage.env,
    ...(setUp === undefined
      ? {
          ALLOWED_NETWORKS: '127.0.0.0/8',
          BOOTSTRAP_API_KEY: apiKey,
          BOOTSTRAP_WORKSPACE: workspace,
        }
      : { ALLOWED_NETWORKS: '', INSECURE_TARGETS: '', N8N_URL: '' }),
    DELIVERY_RETRY_DELAYS_MS: '500,1000,2000',
    ...(hasLimits ? {} : NO_LIMITS),
    ...(caFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: caFile }),
    ...env,
  };
  let laterByMs = 0;
  const isReady = () => fetch(`${url}/readyz`).then((answer) => answer.ok);
  const start = async (): Promise<Program> => {
    const program = await startProgram({
      name: 'The service',
      script,
      cwd: folder,
      env: laterByMs === 0 ? settings : { ...settings, NODE_OPTIONS: clockLaterBy(laterByMs) },
      logFile,
      launcher,
    });
    try {
      await program.ready(isReady);
    } catch (error) {
      await program.kill();
      throw error;
    }
    return program;
  };

  const prepareAndStart = async () => {
    await prepare?.(storage.env);
    return start();
  };
  let here: Service | null = null;
  const startHere = async (): Promise<Service> =>
    startService(readConfig({ ...settings, LOG_LEVEL: 'silent' }), {
      ca: caFile === undefined ? undefined : await readFile(caFile, 'utf8'),
    });
  let program = await prepareAndStart().catch(async (error: unknown) => {
    await storage.remove();
    throw error;
  });
  const close = async () => {
    await here?.stop();
    await program.stop();
    await storage.remove();
  };
  const restart = async () => {
    await program.stop();
    program = await start();
  };
  if (setUp !== undefined) {
    try {
      apiKey = await setUp(await setupLink(logFile));
    } catch (error) {
      await close();
      throw error;
    }
  }
  return {
    url,
    apiKey,
    workspace,
    logFile,
    get pid() {
      return program.pid;
    },
    api: apiClient(url, apiKey),
    restart,
    async restartWithClockAhead(byMs) {
      laterByMs += byMs;
      await restart();
    },
    async crashAndRestart() {
      await program.kill();
      await storage.leasesRunOut();
      program = await start();
    },
    async crashAndStartHere() {
      await program.kill();
      await storage.leasesRunOut();
      here = await startHere();
    },
    close,
  };
}

/** Node's option for a process whose clock is later. */
function clockLaterBy(ms: number): string {
  const script = `const Real = Date; globalThis.Date = class extends Real {
    constructor(...given) { super(...(given.length > 0 ? given : [Real.now() + ${ms}])); }
    static now() { return Real.now() + ${ms}; }
  };`;
  return `--import=data:text/javascript,${encodeURIComponent(script)}`;
}

async function setupLink(logFile: string): Promise<string> {
  const log = await tailOf(logFile);
  const link = /https?:\S+\/setup\?token=\S+/.exec(log);
  if (link === null) throw new Error(`The service has printed no set-up link: ${log}`);
  return link[0];
}

/** Fills in the set-up form, with MEMBER as the owner and n8n on this machine at a port. */
export const setUpForLocalN8n = (n8nPort: number) => async (link: string) => {
  const { origin, pathname, search } = new URL(link);
  const visitor = browserless(origin);
  const form = await visitor.get(pathname + search);
  const ready = await visitor.post('/setup', {
    token: form.value('token')!,
    workspace: 'demo',
    name: 'Ana',
    ...MEMBER,
    n8n: 'this_machine',
    n8n_port: String(n8nPort),
  });
  const key = /cs_live_[0-9A-Za-z]{32}/.exec(ready.html);
  if (key === null) throw new Error(`The set-up form was refused: ${ready.text}`);
  return key[0];
};
