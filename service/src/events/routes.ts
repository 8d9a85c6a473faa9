import { Router } from 'express';
import { EVENT_DESCRIPTIONS, EVENT_NAMES, type EventName } from '../deliveries/index.ts';
import { parseEventName } from '../deliveries/routes.ts';
import { deliveryJson } from '../deliveries/views.ts';
import type { Deps } from '../platform/deps.ts';
import { serve } from '../platform/http/serve.ts';
import type { Workspace } from '../team/index.ts';
import * as contract from './contract.ts';
import type { Payload } from './payloadContract.ts';
import { samplePayload, sendTestEvent } from './samples.ts';

/** The catalogue of events, their samples, and a test event. */
export function eventsRouter(deps: Deps): Router {
  const router = Router();
  const sample = (event: EventName, workspace: Workspace) =>
    samplePayload(event, workspace, deps.clock.now()) as Payload;

  serve(router, deps, contract.listEvents, async ({ caller }) => ({
    data: EVENT_NAMES.map((name) => ({
      name,
      description: EVENT_DESCRIPTIONS[name],
      sample: sample(name, caller.workspace),
    })),
    next_cursor: null,
  }));

  serve(router, deps, contract.getSample, async ({ caller, query }) =>
    sample(parseEventName(query.event), caller.workspace),
  );

  serve(router, deps, contract.sendTestEvent, async ({ deps, caller, params }) =>
    deliveryJson(await sendTestEvent(deps, caller.workspace, params.id!)),
  );
  return router;
}
