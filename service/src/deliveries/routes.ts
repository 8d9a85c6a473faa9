import { Router } from 'express';
import type { Deps } from '../platform/deps.ts';
import { errorWithFix } from '../platform/http/errorCatalogue.ts';
import { isEventName, type EventName } from './event.ts';
import { createSubscription } from './operations/createSubscription.ts';
import { deleteSubscription } from './operations/deleteSubscription.ts';
import { updateSubscription } from './operations/updateSubscription.ts';
import { listDeliveries, recoverDeliveries, redeliver } from './operations/deliveries.ts';
import { listSubscriptions } from './operations/subscriptions.ts';
import {
  rotateSubscriptionSecret,
  revokePreviousSecrets,
} from './operations/rotateSubscriptionSecret.ts';
import * as contract from './contract.ts';
import { definedOnly } from '../platform/json.ts';
import { pageFrom, pageJson } from '../platform/http/page.ts';
import { serve } from '../platform/http/serve.ts';
import { ownerFrom } from '../platform/http/ownerView.ts';
import { deliveryJson, filterFrom, subscriptionJson } from './views.ts';

/** Subscriptions and their deliveries. */
export function hooksRouter(deps: Deps): Router {
  const router = Router();

  serve(router, deps, contract.createSubscription, async ({ deps, caller, body }) => {
    const wanted = {
      events: eventsFrom(body)!,
      targetUrl: body.target_url,
      source: body.source,
      filter: filterFrom(body.filter),
      paused: body.paused,
      catchUp: body.catch_up,
      owner: body.owner && {
        ...ownerFrom(body.owner),
        workflowName: body.owner.workflow_name,
      },
      takeOver: body.take_over,
    };
    const { subscription, secret } = await createSubscription(deps, caller.workspace, wanted);
    return { ...subscriptionJson(subscription), secret };
  });

  serve(router, deps, contract.listSubscriptions, async ({ deps, caller, query }) =>
    pageJson(await listSubscriptions(deps, caller.workspace, pageFrom(query)), subscriptionJson),
  );

  serve(router, deps, contract.updateSubscription, async ({ deps, caller, params, body }) => {
    const changes = {
      targetUrl: body.target_url,
      events: eventsFrom(body),
      filter: body.filter === undefined ? undefined : filterFrom(body.filter),
      paused: body.paused,
      catchUp: body.catch_up,
    };
    return subscriptionJson(await updateSubscription(deps, caller.workspace, params.id!, changes));
  });

  serve(router, deps, contract.deleteSubscription, async ({ deps, caller, params, query }) => {
    const id = params.id!;
    const { pending, revision, ...owner } = query;
    const deletion = { pending, revision, owner: ownerFrom(owner) };
    return { id, deleted: await deleteSubscription(deps, caller.workspace, id, deletion) };
  });

  addSecrets(router, deps);
  addDeliveries(router, deps);
  return router;
}

function addSecrets(router: Router, deps: Deps): void {
  serve(router, deps, contract.rotateSecret, async ({ deps, caller, params }) => {
    const { subscription, secret, overlapEndsAt } = await rotateSubscriptionSecret(
      deps,
      caller.workspace,
      params.id!,
    );
    const notice = `Deliveries carry a signature with the replaced secret too, until ${overlapEndsAt}. Give the new secret to the receiver before then. An n8n workflow gets it when you unpublish and publish it again.`;
    return {
      ...subscriptionJson(subscription),
      secret,
      previous_secret_expires_at: overlapEndsAt,
      notice,
    };
  });

  serve(router, deps, contract.revokePreviousSecrets, async ({ deps, caller, params }) => {
    const { subscription, revoked } = await revokePreviousSecrets(
      deps,
      caller.workspace,
      params.id!,
    );
    return { ...subscriptionJson(subscription), revoked };
  });
}

function addDeliveries(router: Router, deps: Deps): void {
  serve(router, deps, contract.listDeliveries, async ({ deps, caller, params, query }) => {
    const filter = definedOnly({ status: query.status, eventId: query.event_id });
    return pageJson(
      await listDeliveries(deps, caller.workspace, params.id!, filter, pageFrom(query)),
      deliveryJson,
    );
  });

  serve(router, deps, contract.redeliver, async ({ deps, caller, params }) =>
    deliveryJson(await redeliver(deps, caller.workspace, params.id!, params.delivery_id!)),
  );

  serve(router, deps, contract.recoverDeliveries, async ({ deps, caller, params, body }) => ({
    redelivered: await recoverDeliveries(deps, caller.workspace, params.id!, new Date(body.since)),
  }));
}

/**
 * The events that a body names, each once; undefined when it names none.
 * @throws unknown_event (400)
 */
function eventsFrom({ event, events }: contract.EventNames): EventName[] | undefined {
  if (events) return [...new Set(events)].map((name) => parseEventName(name, 'events'));
  return event === undefined ? undefined : [parseEventName(event)];
}

/** @throws unknown_event (400) */
export function parseEventName(name: string, param = 'event'): EventName {
  if (isEventName(name)) return name;
  throw errorWithFix('unknown_event', `There is no event ${JSON.stringify(name.slice(0, 64))}.`, {
    param,
  });
}
