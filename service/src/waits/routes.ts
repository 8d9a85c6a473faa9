import { Router } from 'express';
import { timestamp } from '../platform/clock.ts';
import type { Deps } from '../platform/deps.ts';
import { AppError } from '../platform/http/errorCatalogue.ts';
import { definedOnly } from '../platform/json.ts';
import { pageFrom, pageJson } from '../platform/http/page.ts';
import { serve } from '../platform/http/serve.ts';
import type { z } from 'zod';
import { cancelWait } from './operations/endWait.ts';
import { collectWait } from './operations/collectWait.ts';
import { decideWait } from './operations/decideWait.ts';
import { openWait, type WantedWait } from './operations/openWait.ts';
import { getWait, listWaits } from './operations/waits.ts';
import * as contract from './contract.ts';
import { waitJson } from './views.ts';
import { DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS, secondsAfter } from './wait.ts';
import type { WaitObserver } from './waitMetrics.ts';

/** Waits, for workflows. A key with `waits:write` may open, collect, cancel and decide them. */
export function waitsRouter(deps: Deps, observer: Pick<WaitObserver, 'collected'>): Router {
  const router = Router();

  serve(
    router,
    deps,
    contract.openWait,
    async ({ deps, caller, body }) => {
      const asker = { apiKeyId: caller.apiKey!.id, actor: caller.actor };
      const wanted = wantedFrom(body, deps.clock.now());
      return waitJson(await openWait(deps, caller.workspace, wanted, asker), caller.apiKey);
    },
    undefined, // the stored answer is sent as it is
    ({ deps, caller, body }) =>
      deps.checkTargetUrl(caller.workspace, body.resume_url, 'resume_url'),
  );

  serve(router, deps, contract.listWaits, async ({ deps, caller, query }) => {
    const { status, kind, conversation_id: conversationId } = query;
    const filter = definedOnly({ status, kind, conversationId });
    const found = await listWaits(deps, caller.workspace, filter, pageFrom(query));
    return pageJson(found, (view) => waitJson(view, caller.apiKey));
  });

  serve(router, deps, contract.getWait, async ({ deps, caller, params }) =>
    waitJson(await getWait(deps, caller.workspace, params.id!), caller.apiKey),
  );

  serve(router, deps, contract.collectWait, async ({ deps, caller, params }) => {
    const { isFirst, ...view } = await collectWait(deps, caller.workspace, params.id!);
    if (isFirst) observer.collected(view.wait);
    return waitJson(view, caller.apiKey);
  });

  serve(router, deps, contract.cancelWait, async ({ deps, caller, params }) =>
    waitJson(await cancelWait(deps, caller.workspace, params.id!, caller.actor), caller.apiKey),
  );

  serve(router, deps, contract.decideWait, async ({ deps, caller, params, body }) => {
    const decision = { approved: body.approved, by: caller.actor, note: body.note };
    return waitJson(await decideWait(deps, caller.workspace, params.id!, decision), caller.apiKey);
  });

  return router;
}

/** @throws invalid_request (400) for an `expires_at` in the past or too far away, or a reminder after it */
function wantedFrom(
  body: z.output<NonNullable<typeof contract.openWait.body>>,
  now: Date,
): WantedWait {
  const expiresAt =
    body.expires_at === undefined
      ? secondsAfter(now, DEFAULT_WAIT_SECONDS)
      : timestamp(new Date(body.expires_at));
  const seconds = (Date.parse(expiresAt) - now.getTime()) / 1000;
  if (seconds <= 0) throw refusal('expires_at', 'must be in the future');
  if (seconds > MAX_WAIT_SECONDS)
    throw refusal('expires_at', `must be within ${MAX_WAIT_SECONDS / 86_400} days`);
  if (body.remind_after !== null && body.remind_after >= seconds)
    throw refusal('remind_after', 'must be before expires_at, or the customer is never reminded');
  return {
    kind: body.kind,
    conversationId: body.conversation_id,
    turnId: body.turn_id,
    message: body.message,
    details: body.details,
    accept: body.accept ?? { type: 'any', choices: [] },
    retryMessage: body.retry_message,
    maxAttempts: body.max_attempts,
    remindAfterSeconds: body.remind_after,
    remindMessage: body.remind_message,
    approveLabel: body.approve_label,
    rejectLabel: body.reject_label,
    resumeUrl: body.resume_url,
    expiresAt,
  };
}

const refusal = (param: string, message: string) =>
  new AppError('invalid_request', `${param} ${message}.`, { param });
