import { Router } from 'express';
import { definedOnly } from '../platform/json.ts';
import type { Deps } from '../platform/deps.ts';
import { createTool, updateTool } from './operations/defineTool.ts';
import { deleteTool, pauseTool, rotateToolSecret } from './operations/pauseTool.ts';
import { getTool, isAgentOn, listTools } from './operations/tools.ts';
import { goLiveWithTool, startTestCall } from './operations/testTool.ts';
import { publishTool, unpublishTool } from './operations/publishTool.ts';
import { timeoutMsOf } from './tool.ts';
import { MAX_TOOL_CALL_ATTEMPTS } from './calls/toolCall.ts';
import * as contract from './contract.ts';
import { pageFrom, pageJson } from '../platform/http/page.ts';
import { serve } from '../platform/http/serve.ts';
import type { FollowToolCall } from './followToolCalls.ts';
import { ownerFrom } from '../platform/http/ownerView.ts';
import { toDefinition, toolCallJson, toolJson, withNotice } from './views.ts';

/** For the pauses between the attempts of a test call and its time in the queue. */
const TEST_MARGIN_MS = 30_000;

/** Custom tools. */
export function toolsRouter(deps: Deps, followToolCall: FollowToolCall): Router {
  const router = Router();
  addDefinitions(router, deps);
  addCalling(router, deps, followToolCall);
  addPublishing(router, deps);
  return router;
}

function addDefinitions(router: Router, deps: Deps): void {
  serve(router, deps, contract.createTool, async ({ deps, caller, body }) => {
    const { endpoint = null, request_template = null, secrets = {}, ...others } = body;
    const wanted = { ...toDefinition(others), endpoint, requestTemplate: request_template };
    const { tool, secret } = await createTool(deps, caller.workspace, wanted, secrets);
    return { ...toolJson(tool), secret };
  });

  serve(router, deps, contract.listTools, async ({ deps, caller, query }) => {
    const filter = definedOnly({ name: query.name, status: query.status });
    return pageJson(await listTools(deps, caller.workspace, filter, pageFrom(query)), toolJson);
  });

  serve(router, deps, contract.getTool, async ({ deps, caller, params }) =>
    toolJson(await getTool(deps, caller.workspace, params.id!)),
  );

  serve(router, deps, contract.updateTool, async ({ deps, caller, params, body }) => {
    const { request_template: requestTemplate, secrets = {}, ...others } = body;
    const changes = definedOnly({ ...toDefinition(others), requestTemplate });
    return toolJson(await updateTool(deps, caller.workspace, params.id!, changes, secrets));
  });

  serve(router, deps, contract.deleteTool, async ({ deps, caller, params }) => {
    await deleteTool(deps, caller.workspace, params.id!);
    return { id: params.id!, deleted: true as const };
  });

  serve(router, deps, contract.rotateToolSecret, async ({ deps, caller, params }) => {
    const { tool, secret } = await rotateToolSecret(deps, caller.workspace, params.id!);
    return { ...toolJson(tool), secret };
  });
}

/** A test call, and whether the agent may call the tool. */
function addCalling(router: Router, deps: Deps, followToolCall: FollowToolCall): void {
  serve(router, deps, contract.testTool, async ({ deps, caller, params, body }) => {
    const tool = await getTool(deps, caller.workspace, params.id!);
    const maxMs = MAX_TOOL_CALL_ATTEMPTS * timeoutMsOf(tool) + TEST_MARGIN_MS;
    const call = await followToolCall(
      caller.workspace,
      () => startTestCall(deps, caller.workspace, params.id!, body.arguments),
      maxMs,
    );
    return toolCallJson({ call, contact: null });
  });

  serve(router, deps, contract.goLive, async ({ deps, caller, params, body }) =>
    withNotice(
      toolJson(await goLiveWithTool(deps, caller.workspace, params.id!, body.arguments)),
      await isAgentOn(deps, caller.workspace),
    ),
  );

  serve(router, deps, contract.pauseTool, async ({ deps, caller, params }) =>
    toolJson(await pauseTool(deps, caller.workspace, params.id!)),
  );
}

/** What a workflow calls when it is published and unpublished. */
function addPublishing(router: Router, deps: Deps): void {
  serve(router, deps, contract.publishTool, async ({ deps, caller, params, body }) => {
    const { tool, secret } = await publishTool(deps, caller.workspace, {
      definition: { ...toDefinition(body.definition), name: params.name! },
      sampleArguments: body.sample_arguments,
      owner: { ...ownerFrom(body.owner), workflowName: body.owner.workflow_name },
      secretHash: body.secret_hash ?? null,
      takeOver: body.take_over,
      keepPaused: body.keep_paused,
    });
    return withNotice({ ...toolJson(tool), secret }, await isAgentOn(deps, caller.workspace));
  });

  serve(router, deps, contract.unpublishTool, async ({ deps, caller, params, query }) => {
    const { revision, endpoint, ...owner } = query;
    const unpublishing = { owner: ownerFrom(owner), revision, endpoint };
    const paused = await unpublishTool(deps, caller.workspace, params.name!, unpublishing);
    return { name: params.name!, paused };
  });
}
