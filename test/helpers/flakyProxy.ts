import { createServer, connect, type Socket } from 'node:net';
import { listenTracked, type TrackedServer } from './trackedServer.ts';

/**
 * What happens to a connection. `cut`: the client's side is reset and the service's closed. `stall`:
 * nothing passes any more, either way, until one side closes it.
 */
interface Fault {
  readonly what: 'cut' | 'stall';
  /**
   * The direction in which `afterBytes` counts: to the service (`request`) or back (`answer`).
   * After 0 bytes, a request never arrives, or the answer to a request that was acted on is lost.
   */
  readonly on: 'request' | 'answer';
  readonly afterBytes: number;
}

export interface FlakyProxy extends TrackedServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** How many connections each kind of fault has struck. */
  readonly struck: Readonly<Record<string, number>>;
  /** From now on connections are sound, or faulty again; what is open keeps its fate. */
  setFaulty(isFaulty: boolean): void;
  /** Cuts every connection that is open. */
  breakAll(): void;
}

interface FlakyProxyOptions {
  /** The same seed is the same plan, by order of connections. */
  readonly seed: number;
  /** 0 to 1: how many connections are struck soon; the others break late. */
  readonly share: number;
  /** False: connections are only cut. Default true. */
  readonly stalls?: boolean;
}

/** Less than any request or answer has. */
const AT_ONCE_BYTES = 100;
/** Some requests and answers, or a stream's events. */
const SOON_BYTES = 1500;
/** No connection lasts for ever. */
const LATE_BYTES = 8000;

/** Every kind of fault, as `struck` names them. */
export const FAULT_KINDS = ['cut', 'stall'].flatMap((what) =>
  ['request', 'answer'].flatMap((on) => [`${what} before the ${on}`, `${what} within the ${on}`]),
);

/** A TCP proxy whose connections break, by a plan that its seed decides. */
export async function startFlakyProxy(
  targetUrl: string,
  { seed, share, stalls = true }: FlakyProxyOptions,
): Promise<FlakyProxy> {
  const target = new URL(targetUrl);
  const random = randomFrom(seed);
  const struck: Record<string, number> = {};
  const faults = planFaults(random, stalls ? ['cut', 'stall'] : ['cut']);
  const late = (): Fault => ({
    what: 'cut',
    on: 'answer',
    afterBytes: Math.ceil((1 + random()) * LATE_BYTES),
  });
  const clients = new Set<Socket>();
  let isFaulty = true;

  const server = createServer({ noDelay: true }, (client) => {
    const fault = !isFaulty ? null : random() < share ? faults.next().value : late();
    relay(
      client,
      connect({ host: target.hostname, port: Number(target.port), noDelay: true }),
      fault,
      () => {
        const name = `${fault!.what} ${fault!.afterBytes === 0 ? 'before' : 'within'} the ${fault!.on}`;
        struck[name] = (struck[name] ?? 0) + 1;
      },
    );
  });
  server.on('connection', (client: Socket) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
  });
  const tracked = await listenTracked(server, 0, '127.0.0.1');
  return Object.assign(tracked, {
    url: `http://127.0.0.1:${tracked.port}`,
    struck,
    setFaulty: (faulty: boolean) => void (isFaulty = faulty),
    breakAll: () => clients.forEach((client) => client.resetAndDestroy()),
  });
}

/** One fault of each kind first, then faults by chance. */
function* planFaults(
  random: () => number,
  kinds: readonly Fault['what'][],
): Generator<Fault, never> {
  for (const on of ['request', 'answer'] as const) {
    for (const what of kinds) {
      yield { what, on, afterBytes: 0 };
      yield { what, on, afterBytes: Math.ceil(random() * AT_ONCE_BYTES) };
    }
  }
  for (;;) {
    yield {
      what: random() < 0.8 ? 'cut' : kinds.at(-1)!,
      on: random() < 0.4 ? 'request' : 'answer',
      afterBytes: random() < 0.4 ? 0 : Math.ceil(random() * SOON_BYTES),
    };
  }
}

function relay(client: Socket, service: Socket, fault: Fault | null, onStrike: () => void): void {
  let isStruck = false;
  const end = () => {
    client.destroy();
    service.destroy();
  };
  const strike = (lastBytes: Buffer, to: Socket) => {
    isStruck = true;
    onStrike();
    // What goes before the break must be on its way before the connection ends.
    to.write(lastBytes, () => {
      if (fault!.what === 'stall') return;
      client.resetAndDestroy();
      service.destroy();
    });
  };
  const pass = (from: Socket, to: Socket, on: Fault['on']) => {
    let passed = 0;
    from.on('data', (bytes: Buffer) => {
      if (isStruck) return;
      const left = fault?.on === on ? fault.afterBytes - passed : Infinity;
      passed += bytes.length;
      if (bytes.length < left) to.write(bytes);
      else strike(bytes.subarray(0, left), to);
    });
    from.on('end', () => {
      if (!isStruck) to.end();
    });
    from.on('error', end);
    from.on('close', end);
  };
  pass(client, service, 'request');
  pass(service, client, 'answer');
}

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
