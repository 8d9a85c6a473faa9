import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import {
  MAX_SUMMARY_CHARACTERS,
  VERDICTS,
  FUNNEL_STAGES,
  assignConversation,
  MAX_NOTE_CHARACTERS,
  MAX_REPLY_CHARACTERS,
  closeConversation,
  handBackConversation,
  takeOverConversation,
  resendMessage,
  sendMessage,
  setFunnelStage,
  writeNote,
} from '../conversations/index.ts';
import type { Actor } from '../platform/actor.ts';
import { inOneTransaction, type Deps } from '../platform/deps.ts';
import { AppError, type ErrorCode } from '../platform/http/errorCatalogue.ts';
import { decideToolCall } from '../tools/index.ts';
import { type Workspace, actorOf, signedInOf } from '../team/index.ts';
import { textSchema } from '../platform/http/schemas.ts';
import { isError } from '../platform/html/errorPage.ts';
import { onceForForm } from '../platform/html/formOnce.ts';
import { parseForm, readForm } from '../platform/html/forms.ts';
import { newFormToken } from '../platform/security/tokens.ts';
import type { Tx } from '../store/collections.ts';
import { cancelWait } from '../waits/index.ts';
import { decideByForm, decisionSchema } from '../waits/screens/decideForm.ts';
import { findOtherAnswer, OtherAnswer } from './otherAnswer.ts';
import { goBack, type ShowThread } from './threadParts.ts';

type Post = Request<{ id: string }>;

const replySchema = z.object({
  text: textSchema(MAX_REPLY_CHARACTERS),
  once: z.string().max(100).default(newFormToken),
  /** How many messages there were when the form was made. */
  seen: z.coerce.number().catch(Infinity),
});
const noteSchema = z.object({
  note: textSchema(MAX_NOTE_CHARACTERS),
  once: z.string().max(100).default(newFormToken),
});
const closingSchema = z.object({
  verdict: z.enum(VERDICTS, 'must be chosen'),
  summary: textSchema(MAX_SUMMARY_CHARACTERS),
});
const stageSchema = z.object({ stage: z.enum(FUNNEL_STAGES, 'must be one of the stages') });

/**
 * What a member does in a conversation. Each action leads back to the conversation.
 * @param showThread shows the conversation with a form that was refused
 */
export function actionsRouter(deps: Deps, showThread: ShowThread): Router {
  const router = Router();
  addReply(router, deps, showThread);
  addRetry(router, deps);
  addNote(router, deps, showThread);
  addControl(router, deps);
  addStage(router, deps, showThread);
  addAssignment(router, deps, showThread);
  addClosing(router, deps, showThread);
  addDecisions(router, deps);
  addWaits(router, deps);
  return router;
}

/** Why a reply cannot be sent. Its text stays in the form. */
const OBSTACLES: Partial<Record<ErrorCode, string>> = {
  conversation_closed: 'This conversation is already closed.',
  outside_messaging_window: 'The channel accepts no messages until the customer writes again.',
  channel_removed: 'The account that this customer wrote to is no longer connected.',
};

function addReply(router: Router, deps: Deps, showThread: ShowThread): void {
  router.post('/conversations/:id/reply', async (request: Post, response) => {
    const signedIn = signedInOf(response);
    const values = readForm(request);
    const form = parseForm(replySchema, values);
    if (!form.ok) return showThread(request, response.status(400), { form });
    try {
      const { text, once, seen } = form.data;
      const { id } = request.params;
      const { workspace, member } = signedIn;
      const send = async (within: Deps, tx: Tx) => {
        const other = await findOtherAnswer(tx, id, seen, member, deps.clock.now());
        if (other !== null) throw new OtherAnswer(other.sender.name);
        return (await sendMessage(within, workspace, id, text, actorOf(signedIn))).message.id;
      };
      // Posting the same form again, because the answer to the first was lost, sends nothing.
      await onceForForm(deps, workspace, ['reply', id, once, text], (within) =>
        inOneTransaction(within, send),
      );
      goBack(request, response);
    } catch (error) {
      if (error instanceof OtherAnswer) {
        const form = { values, problems: { '': error.message } };
        return showThread(request, response.status(409), { form });
      }
      const obstacle = error instanceof AppError ? OBSTACLES[error.code] : undefined;
      if (obstacle === undefined) throw error;
      const problems = { '': `${obstacle} Your reply was not sent.` };
      await showThread(request, response.status(409), { form: { values, problems } });
    }
  });
}

/** Why a message was not sent again: notices by error code. */
const NOT_RESENT: Partial<Record<ErrorCode, string>> = {
  conversation_closed: 'already-closed',
  outside_messaging_window: 'retry-window',
  channel_removed: 'retry-channel',
};

function addRetry(router: Router, deps: Deps): void {
  router.post(
    '/conversations/:id/messages/:messageId/retry',
    async (request: Request<{ id: string; messageId: string }>, response) => {
      const { id, messageId } = request.params;
      let notice: string | undefined = 'retried';
      try {
        await resendMessage(deps, signedInOf(response).workspace, id, messageId);
      } catch (error) {
        notice = error instanceof AppError ? NOT_RESENT[error.code] : undefined;
        if (notice === undefined) throw error;
      }
      goBack(request, response, notice, `#${messageId}`);
    },
  );
}

function addNote(router: Router, deps: Deps, showThread: ShowThread): void {
  router.post('/conversations/:id/note', async (request: Post, response) => {
    const signedIn = signedInOf(response);
    const form = parseForm(noteSchema, readForm(request));
    if (!form.ok) return showThread(request, response.status(400), { isNoting: true, form });
    const { workspace } = signedIn;
    const { id } = request.params;
    const { note, once } = form.data;
    await onceForForm(
      deps,
      workspace,
      ['note', id, once, note],
      async (within) => (await writeNote(within, workspace, id, note, actorOf(signedIn))).note.id,
    );
    goBack(request, response);
  });
}

function addControl(router: Router, deps: Deps): void {
  const add = (
    verb: string,
    act: (workspace: Workspace, id: string, actor: Actor) => Promise<unknown>,
  ) =>
    router.post(`/conversations/:id/${verb}`, async (request: Post, response: Response) => {
      const signedIn = signedInOf(response);
      const isDone = await unless('conversation_closed', () =>
        act(signedIn.workspace, request.params.id, actorOf(signedIn)),
      );
      goBack(request, response, isDone ? undefined : 'already-closed');
    });
  add('take-over', (workspace, id, actor) => takeOverConversation(deps, workspace, id, actor));
  add('hand-back', (workspace, id, actor) => handBackConversation(deps, workspace, id, actor));
}

function addStage(router: Router, deps: Deps, showThread: ShowThread): void {
  router.post('/conversations/:id/stage', async (request: Post, response) => {
    const signedIn = signedInOf(response);
    const form = parseForm(stageSchema, readForm(request));
    if (!form.ok) {
      const problems = { '': `Stage: ${form.problems.stage}` };
      return showThread(request, response.status(400), { form: { values: {}, problems } });
    }
    const { workspace } = signedIn;
    await setFunnelStage(deps, workspace, request.params.id, form.data.stage, actorOf(signedIn));
    goBack(request, response);
  });
}

function addAssignment(router: Router, deps: Deps, showThread: ShowThread): void {
  router.post('/conversations/:id/assign', async (request: Post, response: Response) => {
    const signedIn = signedInOf(response);
    const { member } = readForm(request);
    try {
      const memberId = member === undefined || member === '' ? null : member;
      const { id } = request.params;
      await assignConversation(deps, signedIn.workspace, id, memberId, actorOf(signedIn));
      goBack(request, response);
    } catch (error) {
      if (!isError(error, 'invalid_request')) throw error;
      const problems = { '': 'Not assigned: this member is no longer in the team.' };
      await showThread(request, response.status(400), { form: { values: {}, problems } });
    }
  });
}

function addClosing(router: Router, deps: Deps, showThread: ShowThread): void {
  router.post('/conversations/:id/close', async (request: Post, response) => {
    const signedIn = signedInOf(response);
    const form = parseForm(closingSchema, readForm(request));
    if (!form.ok) return showThread(request, response.status(400), { isClosing: true, form });
    const closing = { ...form.data, actor: actorOf(signedIn) };
    const isClosed = await unless('conversation_closed', () =>
      closeConversation(deps, signedIn.workspace, request.params.id, closing),
    );
    goBack(request, response, isClosed ? 'closed' : 'already-closed');
  });
}

function addDecisions(router: Router, deps: Deps): void {
  router.post(
    '/conversations/:id/tool-calls/:callId/decide',
    async (request: Request<{ id: string; callId: string }>, response) => {
      const { id, callId } = request.params;
      const notice = await decideApproval(deps, request, response, callId, id);
      goBack(request, response, notice, `#${callId}`);
    },
  );
}

/**
 * Records the decision of a posted approval card.
 * @param conversationId the conversation whose page posted the card; undefined for other pages
 * @returns the notice for the next page
 */
export async function decideApproval(
  deps: Deps,
  request: Pick<Request, 'body'>,
  response: Response,
  callId: string,
  conversationId?: string,
): Promise<string | undefined> {
  const signedIn = signedInOf(response);
  const form = parseForm(decisionSchema, readForm(request));
  if (!form.ok) return 'decision-refused';
  const approved = form.data.verdict === 'approve';
  const decision = { approved, by: actorOf(signedIn), note: form.data.note };
  const isFirst = await unless('approval_already_decided', () =>
    decideToolCall(deps, signedIn.workspace, callId, decision, conversationId),
  );
  if (!isFirst) return 'already-decided';
  return approved ? 'approved' : 'rejected';
}

/** Decides or cancels the questions of workflows. */
function addWaits(router: Router, deps: Deps): void {
  router.post(
    '/conversations/:id/waits/:waitId/decide',
    async (request: Request<{ id: string; waitId: string }>, response) => {
      const { id, waitId } = request.params;
      const notice = await decideByForm(deps, request, response, waitId, id);
      goBack(request, response, notice, `#${waitId}`);
    },
  );
  router.post(
    '/conversations/:id/waits/:waitId/cancel',
    async (request: Request<{ id: string; waitId: string }>, response) => {
      const signedIn = signedInOf(response);
      const { id, waitId } = request.params;
      await cancelWait(deps, signedIn.workspace, waitId, actorOf(signedIn), id);
      goBack(request, response);
    },
  );
}

/** @returns false when the action failed with this error */
async function unless(code: ErrorCode, act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (isError(error, code)) return false;
    throw error;
  }
}
