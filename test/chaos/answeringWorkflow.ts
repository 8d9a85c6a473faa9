// Stands in for n8n with a workflow that is the agent: a receiver of turns that answers them.
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../helpers/apiClient.ts';
import { signatureFault } from '../helpers/eventReceiver.ts';
import { startTlsReceiver } from '../helpers/tls.ts';
import { insist } from './insist.ts';
import type { TurnLedger } from './turnLedger.ts';

export interface AnsweringWorkflow {
  readonly url: string;
  secret: string;
  /** Waits until every execution has ended. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** The shortest timeout that a turn may have. */
export const TURN_TIMEOUT_S = 5;
const MAX_PAUSE_MS = 300;
const LATE_MS = TURN_TIMEOUT_S * 1000 + 2000;
const REFUSED_SHARE = 0.1;

type WayToAnswer = (id: string, response: ServerResponse) => Promise<void>;

/** Answers each turn in a random way: in the HTTP response, through the API, or both. */
export async function startAnsweringWorkflow(
  ledger: TurnLedger,
  api: () => ApiClient,
  random: () => number,
): Promise<AnsweringWorkflow> {
  const executions = new Set<Promise<void>>();
  const ways = waysToAnswer(ledger, api, () => sleep(random() * MAX_PAUSE_MS));
  const receiver = await startTlsReceiver((request, response) => {
    const fault = signatureFault(request, workflow.secret);
    if (fault !== null) ledger.faults.push(fault);
    if (fault !== null || random() < REFUSED_SHARE)
      return void response.writeHead(503).end('not now');
    const turn = JSON.parse(request.rawBody.toString()) as {
      turn_id: string;
      messages: { id: string }[];
    };
    const messages = turn.messages.map(({ id }) => id);
    ledger.begin(turn.turn_id, messages);
    const execution = ways[Math.floor(random() * ways.length)]!(turn.turn_id, response);
    executions.add(execution);
    void execution.finally(() => executions.delete(execution));
  });
  const workflow: AnsweringWorkflow = {
    url: `${receiver.url}/agent`,
    secret: '',
    async settle() {
      await Promise.all(executions);
    },
    close: () => receiver.close(),
  };
  return workflow;
}

function waysToAnswer(
  ledger: TurnLedger,
  api: () => ApiClient,
  pause: () => Promise<unknown>,
): readonly WayToAnswer[] {
  const answer = (response: ServerResponse, body: unknown) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const accept = (response: ServerResponse) => {
    response.writeHead(202).end('{}');
    return pause();
  };
  /** Notes a text before it is sent. */
  const noted = (turn: string, text = turn): string => {
    ledger.said.set(text, turn);
    return text;
  };
  /** Answers through the API, again and again until the service answers. */
  const operate = async (turn: string, operation: string, body: { text?: string } = {}) => {
    const path = `/api/agent-turns/${turn}/${operation}`;
    const key = { 'idempotency-key': body.text ?? operation };
    const { status } = await insist(() => api().post(path, body, key));
    if (![200, 201, 409].includes(status)) ledger.faults.push(`${path}: ${status}`);
    if (body.text !== undefined) ledger.taken.set(body.text, status !== 409);
  };

  return [
    async (id, response) => answer(response, { reply: noted(id) }),
    async (id, response) => {
      await pause();
      answer(response, { reply: [noted(id, `${id}-1`), noted(id, `${id}-2`)] });
    },
    async (id, response) => {
      await pause();
      answer(response, { reply: noted(id), hand_over: { reason: 'missing_knowledge' } });
    },
    async (_id, response) => {
      await pause();
      answer(response, {});
    },
    async (id, response) => {
      await accept(response);
      await operate(id, 'replies', { text: noted(id) });
    },
    async (id, response) => {
      await accept(response);
      const more = { text: noted(id, `${id}-1`), more_follows: true };
      await operate(id, 'replies', more);
      await pause();
      await operate(id, 'replies', { text: noted(id, `${id}-2`) });
    },
    async (id, response) => {
      await accept(response);
      await operate(id, 'hand-over', { text: noted(id) });
    },
    async (id, response) => {
      await accept(response);
      await operate(id, 'end');
    },
    // After an answer through the API, the HTTP answer is ignored: the ledger does not know its text.
    async (id, response) => {
      await pause();
      await operate(id, 'replies', { text: noted(id) });
      answer(response, { reply: `${id}-again` });
    },
    // Too late: the ledger does not know its text either.
    async (id, response) => {
      await sleep(LATE_MS);
      answer(response, { reply: `${id}-late` });
    },
  ];
}
