// Stands in for n8n while a workflow waits. The service calls the resume address of an execution that
// rests; the execution then collects the wait with its API key and goes on.
import type { ApiClient } from './apiClient.ts';
import { freePort } from './program.ts';
import { startTlsReceiver, type ReceiverHandler, type TlsReceiver } from './tls.ts';

/** The signature in a resume address. No page, log or stored text may show it. */
export const SIGNATURE = 's3cr3t'.repeat(8);

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked at field by field
type Json = any;

/**
 * What an address answers. `rest`: the execution rests, so it collects and goes on; afterwards it is
 * over, and answers 409. `die`: it collects, and its n8n dies before it goes on.
 */
type ResumeAnswer = 'rest' | 'die' | number | { readonly status: number; readonly message: string };

export interface RestingExecution {
  /** Its resume address, which holds a signature. */
  readonly url: string;
  /** The waits that it was called for, one entry a call. */
  readonly calls: string[];
  /** What it went on with, one entry for each time that it went on. */
  readonly wentOnWith: Json[];
  /**
   * The answers to the next calls, in order. After them `answerAlways` applies, which is `rest` by
   * default.
   */
  answer(...answers: ResumeAnswer[]): void;
  /** The answer to every call for which `answer` set none. */
  answerAlways(answer: ResumeAnswer): void;
}

export interface ExecutionHost {
  /** PEM of the authority to trust. */
  readonly ca: string;
  /** An execution that waits from now on. @param path the beginning of its address's path */
  execution(path?: string, signature?: string): RestingExecution;
  /** Nothing listens at its addresses until `comeBack`. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

interface Running extends RestingExecution {
  readonly answers: ResumeAnswer[];
  standing: ResumeAnswer;
}

/** @param api calls with the key of the workflow's credential */
export async function startExecutionHost(api: () => ApiClient): Promise<ExecutionHost> {
  const executions = new Map<string, Running>();
  const answer: ReceiverHandler = (request, response) => {
    const running = executions.get(request.path);
    const { wait_id: waitId } = JSON.parse(request.rawBody.toString()) as { wait_id: string };
    if (running === undefined)
      return void response.writeHead(404).end('{"message":"execution not found"}');
    running.calls.push(waitId);
    const next = running.answers.shift() ?? running.standing;
    if (typeof next === 'number') return void response.writeHead(next).end('{}');
    if (typeof next === 'object')
      return void response.writeHead(next.status).end(JSON.stringify({ message: next.message }));
    if (running.wentOnWith.length > 0)
      return void response.writeHead(409).end('{"message":"finished already"}');
    void api()
      .post(`/api/waits/${waitId}/collect`)
      .then(({ status, body }) => {
        // As our node does: an answer that it could not collect does not count as received,
        // whatever the service stored.
        if (status !== 200) {
          const isOver = String(body?.error?.code).startsWith('wait_');
          return void response.writeHead(isOver ? 409 : 503).end(JSON.stringify(body));
        }
        if (next === 'die') return void response.destroy();
        running.wentOnWith.push(body);
        response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Got it, thanks</p>');
      })
      .catch(() => response.destroy());
  };
  let receiver: TlsReceiver = await startTlsReceiver(answer, { port: await freePort() });
  const { port, url } = receiver;
  let count = 0;
  return {
    ca: receiver.ca,
    execution(folder = '/webhook-waiting', signature = SIGNATURE) {
      const path = `${folder}/${++count}?signature=${signature}`;
      const running: Running = {
        url: url + path,
        calls: [],
        wentOnWith: [],
        answers: [],
        standing: 'rest',
        answer: (...answers) => void running.answers.push(...answers),
        answerAlways: (standing) => void (running.standing = standing),
      };
      executions.set(path, running);
      return running;
    },
    goAway: () => receiver.close(),
    async comeBack() {
      receiver = await startTlsReceiver(answer, { port });
    },
    close: () => receiver.close(),
  };
}
