// The server that a workflow asks while it answers a turn. It thinks for as long as a test wants.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenTracked } from '../../../helpers/trackedServer.ts';

/** A turn as the trigger puts it out: the fields that tests look at. */
export interface TurnInput {
  readonly chatInput: string;
  readonly sessionId: string;
  readonly messages: readonly { readonly text: string }[];
}

/** Makes the answer to a turn. */
type Script = (turn: TurnInput) => unknown;

export interface ThinkingServer {
  readonly url: string;
  /** Every turn that was asked about, oldest first. */
  readonly turns: readonly TurnInput[];
  /** Answers what is asked from now on. The workflow waits while a promise is pending. */
  answerBy(script: Script): void;
  close(): Promise<void>;
}

export async function startThinkingServer(): Promise<ThinkingServer> {
  const turns: TurnInput[] = [];
  let script: Script = ({ chatInput }) => ({ reply: `You wrote: ${chatInput}` });
  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
    const turn = JSON.parse(Buffer.concat(chunks).toString()) as TurnInput;
    turns.push(turn);
    const answer = await script(turn);
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  };
  const server = createServer((req, res) => void handle(req, res).catch(() => res.destroy()));
  const tracked = await listenTracked(server, 0, '127.0.0.1');
  return {
    url: `http://127.0.0.1:${tracked.port}/`,
    turns,
    answerBy: (next) => {
      script = next;
    },
    close: tracked.close,
  };
}

/** A promise that stays pending until a test opens it. */
export function gate() {
  const { promise: opened, resolve } = Promise.withResolvers<undefined>();
  return { opened, open: () => resolve(undefined) };
}
