import {
  assertOpen,
  awaitReply,
  loadConversation,
  storeReply,
  type ConversationView,
  type MessageExtras,
} from '../../conversations/index.ts';
import type { Actor } from '../../platform/actor.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, errorWithFix } from '../../platform/http/errorCatalogue.ts';
import { newId } from '../../platform/ids.ts';
import { hashToken } from '../../platform/security/tokens.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../../team/index.ts';
import { MAX_OPEN_WAITS, NEW_WAIT, secondsAfter, type Wait } from '../wait.ts';
import { countDecision, putEnded } from './endWait.ts';
import { findNewestByResumeUrl, lockWait, putWait, viewWait, type WaitView } from './waits.ts';

/** What a workflow asks for. */
export type WantedWait = Pick<
  Wait,
  | 'kind'
  | 'conversationId'
  | 'turnId'
  | 'message'
  | 'details'
  | 'approveLabel'
  | 'rejectLabel'
  | 'accept'
  | 'retryMessage'
  | 'maxAttempts'
  | 'remindAfterSeconds'
  | 'remindMessage'
  | 'expiresAt'
> & { readonly resumeUrl: string };

/** Who asks: an API key. */
interface Asker {
  readonly apiKeyId: string;
  readonly actor: Actor;
}

/**
 * Opens a wait. A question to a customer is sent at once, beside the agent or, for a turn, in the
 * agent's name; control stays where it is, and what the customer writes next is the answer. A
 * question to the team is a card. An open wait with the same address is cancelled: its execution no
 * longer waits for it.
 * @param wanted.resumeUrl checked by the caller, since the check makes requests
 * @throws wait_exists when the conversation has an open question, wait_limit_reached,
 * conversation_closed, outside_messaging_window, channel_removed, turn_superseded,
 * try_without_customer (409), invalid_request (400) for a reply without a conversation,
 * not_found (404)
 */
export const openWait = (deps: Deps, workspace: Workspace, wanted: WantedWait, asker: Asker) =>
  deps.store.transaction(async (tx): Promise<WaitView> => {
    const now = deps.clock.now();
    await tx.workspaces.get(workspace.id); // locks the workspace, so that the limit holds
    // First, since this may end the turn too: a newer turn then gets what the customer wrote.
    await cancelEarlier(tx, deps, workspace, wanted, now);
    const origin = await findOrigin(tx, deps, workspace, wanted, asker, now);
    if (wanted.kind === 'reply') await assertMayAsk(tx, deps, origin.view, now);
    await assertBelowLimit(tx, workspace);
    const wait = newWait(deps, workspace, wanted, asker, origin.view, now);
    if (wanted.kind === 'decision') {
      await putWait(tx, wait);
      await countDecision(tx, wait, 'requested', now);
    } else await putQuestion(tx, deps, wait, { ...origin, view: origin.view! }, now);
    return viewWait(tx, (await tx.waits.peek(wait.id))!);
  });

/** Where a question is asked, and in whose name. */
interface Origin {
  /** Null for a decision that belongs to the workspace alone. */
  readonly view: ConversationView | null;
  /** The question as it is sent. */
  readonly text: string;
  readonly sender: { readonly actor: Actor } & MessageExtras;
}

/** Finds where, and in whose name, to ask. A turn is suspended from now on. */
async function findOrigin(
  tx: Tx,
  { reactions }: Pick<Deps, 'reactions'>,
  workspace: Workspace,
  { conversationId, turnId, kind, message }: WantedWait,
  { actor }: Asker,
  now: Date,
): Promise<Origin> {
  if (turnId === null) {
    const sender = { actor, isBesideAgent: true };
    if (conversationId === null) return { view: null, text: message, sender };
    const view = await loadConversation(tx, workspace, conversationId);
    assertOpen(view.conversation);
    return { view, text: message, sender };
  }
  const turn = { workspaceId: workspace.id, turnId, conversationId, kind, message };
  const opened = await reactions.onWaitOpened(tx, turn, now);
  const { conversationId: own, text, isBesideAgent, ...sender } = opened;
  return {
    view: own === null ? null : await loadConversation(tx, workspace, own),
    text,
    sender: { ...sender, ...(isBesideAgent && { isBesideAgent }) },
  };
}

/** @throws wait_exists, outside_messaging_window, channel_removed (409) */
async function assertMayAsk(
  tx: Tx,
  { messaging }: Deps,
  view: ConversationView | null,
  now: Date,
): Promise<void> {
  if (view === null)
    throw new AppError(
      'invalid_request',
      'conversation_id must name the conversation of the customer who is asked.',
      { param: 'conversation_id' },
    );
  const { id, replyWaitId } = view.conversation;
  if (replyWaitId)
    throw errorWithFix('wait_exists', `Wait ${replyWaitId} already asks the customer of ${id}.`, {
      existingId: replyWaitId,
    });
  await messaging.assertReachable(tx, view.contact, now);
}

async function assertBelowLimit(tx: Tx, { id: workspaceId }: Workspace): Promise<void> {
  const where = { workspaceId, status: 'open' } as const;
  if ((await tx.waits.find({ where, limit: MAX_OPEN_WAITS })).length < MAX_OPEN_WAITS) return;
  throw errorWithFix('wait_limit_reached', `This workspace has ${MAX_OPEN_WAITS} open waits.`);
}

function newWait(
  { secrets }: Pick<Deps, 'secrets'>,
  workspace: Workspace,
  { resumeUrl, ...wanted }: WantedWait,
  { apiKeyId, actor }: Asker,
  view: ConversationView | null,
  now: Date,
): Wait {
  const { remindAfterSeconds } = wanted;
  const messageCount = view?.conversation.messageCount ?? null;
  return {
    ...NEW_WAIT,
    ...wanted,
    id: newId('wait'),
    workspaceId: workspace.id,
    conversationId: view?.conversation.id ?? null,
    contactId: view?.contact.id ?? null,
    afterMessage: messageCount,
    judgedThrough: messageCount ?? 0,
    remindAt: remindAfterSeconds === null ? null : secondsAfter(now, remindAfterSeconds),
    sealedResumeUrl: secrets.seal(resumeUrl),
    resumeHost: new URL(resumeUrl).host,
    resumeUrlHash: hashToken(resumeUrl),
    apiKeyId,
    createdBy: actor,
    createdAt: timestamp(now),
  };
}

/** Ends what is still open at the same address, since nothing could collect it any more. */
async function cancelEarlier(
  tx: Tx,
  deps: Deps,
  { id: workspaceId }: Workspace,
  { resumeUrl }: WantedWait,
  now: Date,
): Promise<void> {
  const at = { workspaceId, resumeUrlHash: hashToken(resumeUrl) };
  const earlier = await findNewestByResumeUrl(tx, at);
  const locked = earlier?.status === 'open' ? await lockWait(tx, earlier.id) : null;
  const how = { status: 'cancelled', isReplaced: true } as const;
  if (locked?.wait.status === 'open') await putEnded(tx, deps, locked, how, now);
}

async function putQuestion(
  tx: Tx,
  deps: Deps,
  wait: Wait,
  { view, text, sender }: Origin & { view: ConversationView },
  now: Date,
): Promise<void> {
  const sent = await askCustomer(tx, deps, wait, view, text, sender, now);
  const { number, id } = sent.message;
  await tx.conversations.put(awaitReply(sent.conversation, wait.id));
  await putWait(tx, { ...wait, questionId: id, afterMessage: number, judgedThrough: number });
}

/** Sends a text of a wait to the customer, with its choices. */
export const askCustomer = (
  tx: Tx,
  deps: Pick<Deps, 'messaging'>,
  { id, accept }: Wait,
  view: ConversationView,
  text: string,
  sender: { readonly actor: Actor } & MessageExtras,
  now: Date,
) =>
  storeReply(
    tx,
    deps,
    view,
    {
      text,
      ...sender,
      waitId: id,
      ...(accept.choices.length === 0 ? {} : { choices: accept.choices }),
    },
    now,
  );
