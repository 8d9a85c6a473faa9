// The attacker's side of an attack: a process of its own, bounded in time, that ends with the
// process that started it.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage, type RequestOptions } from 'node:http';

/** What every attack is told. */
export interface Target {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** After this time an attack begins nothing more. */
  readonly seconds: number;
}

export type Tally = (what: string, count?: number) => void;

export interface Attack {
  /** Counts what happened. The test gets the counts at the end. */
  readonly tally: Tally;
  /** To be called when the attack is under way. From then on its effect on others is measured. */
  begun(): void;
  readonly isOver: () => boolean;
  /** Aborts when the attack is over. */
  readonly over: AbortSignal;
}

/** How long an attack may go on reading answers once its time is over. */
const GRACE_MS = 60_000;

/** Runs the attack of this process, with arguments that come as JSON on the command line. */
export async function attack<Args extends Target>(
  run: (args: Args, attack: Attack) => Promise<void>,
): Promise<void> {
  const args = JSON.parse(process.argv[2]!) as Args;
  const { hostname } = new URL(args.url);
  if (hostname !== '127.0.0.1' && hostname !== '[::1]')
    throw new Error(`An attack on ${hostname}: only this machine may be attacked.`);
  const counts: Record<string, number> = {};
  const over = new AbortController();
  process.on('disconnect', () => process.exit(1));
  process.on('message', () => over.abort());
  setTimeout(() => over.abort(), args.seconds * 1000).unref();
  setTimeout(() => process.exit(2), args.seconds * 1000 + GRACE_MS).unref();
  await run(args, {
    tally: (what, count = 1) => void (counts[what] = (counts[what] ?? 0) + count),
    begun: () => void process.send!({ begun: true }),
    isOver: () => over.signal.aborted,
    over: over.signal,
  });
  process.send!({ counts }, () => process.exit(0));
}

/** Runs `count` loops at once, each until the attack is over or `act` returns false. */
export async function inParallel(
  count: number,
  { isOver }: Pick<Attack, 'isOver'>,
  act: (worker: number) => Promise<unknown>,
): Promise<void> {
  const work = async (worker: number) => {
    while (!isOver()) if ((await act(worker)) === false) return;
  };
  await Promise.all(Array.from({ length: count }, (_, worker) => work(worker)));
}

/** Calls `act` `count` times in all, from `connections` loops at once. */
export async function repeat(
  count: number,
  connections: number,
  run: Pick<Attack, 'isOver'>,
  act: (n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  await inParallel(connections, run, async () => {
    const n = next++;
    if (n >= count) return false;
    await act(n);
    return true;
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: 2000 });

export interface AttackRequest {
  readonly method?: string;
  readonly path: string;
  /** The client's address that the proxy in front names. */
  readonly from?: string;
  readonly token?: string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
}

/** Sends a request, and reads the whole answer. @returns the status 0 for a broken connection */
export async function send(
  url: string,
  { method = 'POST', path, from, token, json, form }: AttackRequest,
): Promise<{ status: number; text: string }> {
  const body = form === undefined ? JSON.stringify(json) : new URLSearchParams(form).toString();
  const options: RequestOptions = {
    method,
    agent,
    headers: {
      ...(body === undefined
        ? {}
        : {
            'content-type':
              form === undefined ? 'application/json' : 'application/x-www-form-urlencoded',
            'content-length': Buffer.byteLength(body),
          }),
      ...(from === undefined ? {} : { 'x-forwarded-for': from }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  };
  try {
    const outgoing = request(new URL(path, url), options);
    outgoing.end(body);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
    return { status: answer.statusCode!, text: Buffer.concat(chunks).toString() };
  } catch {
    return { status: 0, text: '' };
  }
}

/** A stranger in a chat. */
export interface Visitor {
  readonly from: string;
  readonly token: string;
}

/** Opens a chat of a workspace. @returns null when it was refused */
export async function openChat(
  url: string,
  workspace: string,
  from: string,
  tally: Tally,
): Promise<Visitor | null> {
  const { status, text } = await send(url, {
    path: '/api/chat/sessions',
    from,
    json: { workspace },
  });
  tally(`sessions ${status}`);
  if (status !== 201) return null;
  const { token } = JSON.parse(text) as { token: string };
  return { from, token };
}

/** Writes a message. @returns the status */
export async function write(
  url: string,
  visitor: Visitor,
  text: string,
  tally: Tally,
): Promise<number> {
  const json = { text, client_message_id: randomUUID() };
  const { status } = await send(url, { path: '/api/chat/messages', ...visitor, json });
  tally(`messages ${status}`);
  return status;
}
