import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { MAX_SUMMARY_CHARACTERS, VERDICTS } from '../../domain/conversation.ts';
import type { Deps } from '../../domain/deps.ts';
import { AppError, type ErrorCode } from '../../domain/errorCatalogue.ts';
import { FUNNEL_STAGES } from '../../domain/funnel.ts';
import { MAX_REPLY_CHARACTERS } from '../../domain/message.ts';
import { closeConversation } from '../../domain/operations/closeConversation.ts';
import { decideToolCall } from '../../domain/operations/decideToolCall.ts';
import { handBackConversation } from '../../domain/operations/handBackConversation.ts';
import { sendMessage } from '../../domain/operations/sendMessage.ts';
import { setFunnelStage } from '../../domain/operations/setFunnelStage.ts';
import { takeOverConversation } from '../../domain/operations/takeOverConversation.ts';
import { textSchema } from '../../http/contract/shared.ts';
import { formValues, parseForm } from '../forms.ts';
import { actorOf, signedInOf } from '../session.ts';
import { MAX_REASON_CHARACTERS } from './approvalCard.ts';
import type { ShowThread } from './conversationsRouter.ts';
import { placeOf, threadHref } from './place.ts';

type Post = Request<{ id: string; callId: string }>;

/** Browsers send line ends as CR LF, and count them as one character. */
const formText = (max: number) =>
  z
    .string('is missing')
    .transform((text) => text.replaceAll('\r\n', '\n'))
    .pipe(textSchema(max));

const replySchema = z.object({ text: formText(MAX_REPLY_CHARACTERS) });
const closingSchema = z.object({
  verdict: z.enum(VERDICTS, 'must be chosen'),
  summary: formText(MAX_SUMMARY_CHARACTERS),
});
const stageSchema = z.object({ stage: z.enum(FUNNEL_STAGES, 'must be one of the stages') });
const reasonSchema = z.object({ note: formText(MAX_REASON_CHARACTERS) });

/**
 * What a member does in a conversation; each leads back to it. @param showThread shows it with what
 * could not be used
 */
export function actionsRouter(deps: Deps, showThread: ShowThread): Router {
  const router = Router();
  const back = (request: Post, response: Response, notice?: string, anchor = '') =>
    response.redirect(303, threadHref(request.params.id, placeOf(request), { notice }) + anchor);

  router.post('/conversations/:id/reply', async (request: Post, response) => {
    const values = formValues(request.body);
    const form = parseForm(replySchema, values);
    if (!form.ok)
      return showThread(request, response.status(400), {
        refused: { values, problems: form.problems },
      });
    const { workspace } = signedInOf(response);
    const obstacle = await obstacleTo(() =>
      sendMessage(
        deps,
        workspace,
        request.params.id,
        form.data.text,
        actorOf(signedInOf(response)),
      ),
    );
    if (obstacle === null) return back(request, response);
    await showThread(request, response.status(409), {
      refused: { values, problem: `${obstacle} Your reply was not sent.` },
    });
  });

  const control = (
    verb: string,
    act: (
      workspace: Parameters<typeof takeOverConversation>[1],
      id: string,
      actor: ReturnType<typeof actorOf>,
    ) => Promise<unknown>,
  ) =>
    router.post(`/conversations/:id/${verb}`, async (request: Post, response: Response) => {
      const signedIn = signedInOf(response);
      const isDone = await unless('conversation_closed', () =>
        act(signedIn.workspace, request.params.id, actorOf(signedIn)),
      );
      back(request, response, isDone ? undefined : 'already-closed');
    });
  control('take-over', (workspace, id, actor) => takeOverConversation(deps, workspace, id, actor));
  control('hand-back', (workspace, id, actor) => handBackConversation(deps, workspace, id, actor));

  router.post('/conversations/:id/stage', async (request: Post, response) => {
    const signedIn = signedInOf(response);
    const form = parseForm(stageSchema, formValues(request.body));
    if (!form.ok)
      return showThread(request, response.status(400), {
        refused: { problem: `Stage: ${form.problems.stage}` },
      });
    await setFunnelStage(
      deps,
      signedIn.workspace,
      request.params.id,
      form.data.stage,
      actorOf(signedIn),
    );
    back(request, response);
  });

  router.post('/conversations/:id/close', async (request: Post, response) => {
    const signedIn = signedInOf(response);
    const values = formValues(request.body);
    const form = parseForm(closingSchema, values);
    if (!form.ok)
      return showThread(request, response.status(400), {
        isClosing: true,
        refused: { values, problems: form.problems },
      });
    const isClosed = await unless('conversation_closed', () =>
      closeConversation(deps, signedIn.workspace, request.params.id, {
        ...form.data,
        actor: actorOf(signedIn),
      }),
    );
    back(request, response, isClosed ? 'closed' : 'already-closed');
  });

  const decide = (verb: string, approved: boolean) =>
    router.post(
      `/conversations/:id/tool-calls/:callId/${verb}`,
      async (request: Post, response: Response) => {
        const signedIn = signedInOf(response);
        const { id, callId } = request.params;
        const form = parseForm(reasonSchema, formValues(request.body));
        if (!approved && !form.ok) return back(request, response, 'reason-missing', `#${callId}`);
        const decision = {
          approved,
          by: actorOf(signedIn),
          note: !approved && form.ok ? form.data.note : null,
        };
        const isFirst = await unless('approval_already_decided', () =>
          decideToolCall(deps, signedIn.workspace, callId, decision, id),
        );
        back(request, response, isFirst ? undefined : 'already-decided', `#${callId}`);
      },
    );
  decide('approve', true);
  decide('reject', false);

  return router;
}

const OBSTACLES: Partial<Record<ErrorCode, string>> = {
  conversation_closed: 'The conversation was closed meanwhile.',
  outside_messaging_window:
    'The channel takes no messages to this customer until they write again.',
  channel_removed: 'The account that this customer wrote to is not connected any more.',
};

/**
 * @returns why a reply cannot be sent, in words; null when it was stored. Its text is kept in the
 * form.
 */
async function obstacleTo(reply: () => Promise<unknown>): Promise<string | null> {
  try {
    await reply();
    return null;
  } catch (error) {
    const words = error instanceof AppError ? OBSTACLES[error.code] : undefined;
    if (words === undefined) throw error;
    return words;
  }
}

/** @returns false when it failed with this error, which the page says in words */
async function unless(code: ErrorCode, act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === code) return false;
    throw error;
  }
}
