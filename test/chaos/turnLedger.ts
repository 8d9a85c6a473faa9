import { SENTENCES } from '../../service/src/agent/keyword/sentences.ts';
import type { ApiClient } from '../helpers/apiClient.ts';

/** What the customer is told when a turn has failed. */
const FAILURE_TEXT: string = SENTENCES.handOverAfterError.en;
const ENDED = ['answered', 'superseded', 'failed'];

interface Turn {
  readonly turn_id: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly ended_at: string | null;
  readonly messages_sent: number;
}

interface ThreadMessage {
  readonly id: string;
  readonly text: string;
  readonly sender: { readonly type: string };
}

/**
 * The side of the account that the workflow and the customers know: what was asked, answered and
 * written.
 */
export class TurnLedger {
  /** Ids of the customer's messages that a turn answers, by the turn. */
  readonly asked = new Map<string, readonly string[]>();
  /** The turn of each text that the workflow answered with. */
  readonly said = new Map<string, string>();
  /** Whether the API accepted a text. */
  readonly taken = new Map<string, boolean>();
  /** Ids of the customer's acknowledged messages, by conversation. */
  readonly written = new Map<string, string[]>();
  readonly faults: string[] = [];

  /** An execution begins. */
  begin(turn: string, messages: readonly string[]): void {
    if (this.asked.has(turn)) this.faults.push(`${turn} was begun twice`);
    this.asked.set(turn, messages);
  }

  write(conversation: string, message: string): void {
    this.written.set(conversation, [...(this.written.get(conversation) ?? []), message]);
  }

  get inWords(): string {
    const messages = [...this.written.values()].flat().length;
    const taken = [...this.taken.values()].filter(Boolean).length;
    return `${messages} messages in ${this.written.size} conversations with a workflow, ${this.asked.size} turns of it; ${taken} of ${this.taken.size} answers by the API taken`;
  }

  /** Checks every thread and each of its turns against the ledger. */
  async check(api: ApiClient): Promise<void> {
    for (const conversation of this.written.keys()) {
      const path = `/api/agent-turns?limit=200&conversation_id=${conversation}`;
      const turns = (await api.get(path)).body.data as Turn[];
      const { body } = await api.get(`/api/conversations/${conversation}?messages=200`);
      const faults = this.#faultsOf(conversation, turns, body.messages as ThreadMessage[]);
      this.faults.push(...faults.map((fault) => `${conversation}: ${fault}`));
    }
  }

  #faultsOf(conversation: string, turns: Turn[], messages: ThreadMessage[]): string[] {
    const ids = new Set(messages.map(({ id }) => id));
    const lost = this.written.get(conversation)!.filter((id) => !ids.has(id));
    const { sent, failures, faults } = this.#readThread(turns, messages);
    const failed = turns.filter(({ status }) => status === 'failed').length;
    if (failed !== failures) faults.push(`${failed} turns failed, told ${failures} times`);
    return [
      ...faults,
      ...lost.map((id) => `the message ${id} was lost`),
      ...turns.flatMap((turn) => this.#faultsOfTurn(turn, sent)),
    ];
  }

  /** Checks that each turn answers exactly the messages that wait at its place, once. */
  #readThread(turns: Turn[], messages: ThreadMessage[]) {
    const faults: string[] = [];
    const sent = new Set<string>();
    // Messages to which the workflow chose to say nothing need no answer.
    const needNoAnswer = new Set(
      turns
        .filter(({ outcome }) => outcome === 'nothing')
        .flatMap(({ turn_id: turn }) => this.asked.get(turn) ?? []),
    );
    let waiting: string[] = [];
    let speakingTurn: string | undefined;
    let failures = 0;
    for (const { id, sender, text } of messages) {
      if (sender.type === 'customer') {
        speakingTurn = undefined;
        if (!needNoAnswer.has(id)) waiting.push(id);
        continue;
      }
      const turn = this.said.get(text);
      if (text === FAILURE_TEXT) failures += 1;
      else if (turn === undefined) faults.push(`nobody said ${text}`);
      else if (sent.has(text)) faults.push(`${text} was sent twice`);
      else if (turn !== speakingTurn && String(this.asked.get(turn)) !== String(waiting))
        faults.push(`${text} answers ${this.asked.get(turn)} where ${waiting} waited`);
      sent.add(text);
      speakingTurn = turn;
      waiting = [];
    }
    if (waiting.length > 0) faults.push(`${waiting} was left unanswered`);
    return { sent, failures, faults };
  }

  /** Checks that a turn ended, and that its record fits what was sent and what the API accepted. */
  #faultsOfTurn(turn: Turn, sent: ReadonlySet<string>): string[] {
    const { turn_id: id, status, outcome, ended_at: endedAt, messages_sent: count } = turn;
    const texts = [...this.said].filter(([, turnId]) => turnId === id).map(([text]) => text);
    const sentTexts = texts.filter((text) => sent.has(text));
    const isSilent = outcome === 'nothing';
    return [
      ...(ENDED.includes(status) && endedAt !== null ? [] : [`${id} is ${status}`]),
      ...(sentTexts.length === count ? [] : [`${id} sent ${count}, and ${sentTexts} are there`]),
      ...(status !== 'answered' || isSilent === (count === 0)
        ? []
        : [`${id} has the outcome ${outcome} and sent ${count}`]),
      ...texts
        .filter((text) => this.taken.has(text) && this.taken.get(text) !== sent.has(text))
        .map((text) => `${text} was taken: ${this.taken.get(text)}, sent: ${sent.has(text)}`),
    ];
  }
}
