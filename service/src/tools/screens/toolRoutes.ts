import { readWeek } from '../../overview/index.ts';
import { Router, type Response } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { deleteTool, pauseTool, releaseTool, rotateToolSecret } from '../operations/pauseTool.ts';
import { getTool, isAgentOn, listToolsWithLastCall, readTool } from '../operations/tools.ts';
import { goLiveWithTool, startTestCall } from '../operations/testTool.ts';
import type { FollowToolCall } from '../followToolCalls.ts';
import { isError, leaveIfRemoved } from '../../platform/html/errorPage.ts';
import { newForm, readForm } from '../../platform/html/forms.ts';
import { sendPage, sendPart } from '../../platform/html/html.ts';
import { signedInOf, workspaceOf } from '../../team/index.ts';
import { argumentProblems, argumentsFrom, argumentValues } from './argumentsForm.ts';
import { definitionRouter } from './definitionRoutes.ts';
import { secretPage } from './secretPage.ts';
import { toolListPage, toolTable } from './toolListPage.ts';
import { livePartsOfTool, toolPage, type ToolPage } from './toolPage.ts';

/** How long a browser waits for a test call before it is shown as running. */
const WAIT_MS = 8000;

/** `/tools`: the list, the definitions, and each tool with its actions. */
export function toolScreensRouter(deps: Deps, followToolCall: FollowToolCall): Router {
  const router = Router();
  addToolList(router, deps);
  router.use(definitionRouter(deps));
  addToolPage(router, deps);
  addTestCall(router, deps, followToolCall);
  addActions(router, deps);
  // A page that answered a POST has the form's address. Opening it leads back to the tool.
  router.get('/tools/:id/:action', ({ params }, response) =>
    response.redirect(303, `/tools/${params.id}`),
  );
  return router;
}

function addToolList(router: Router, deps: Deps): void {
  router.get('/tools', async ({ query }, response) => {
    const workspace = workspaceOf(response);
    const tools = await listToolsWithLastCall(deps, workspace);
    const page = {
      now: deps.clock.now(),
      dailyCalls: await readWeek(deps, workspace, 'tool_call'),
      notice: query.notice,
      isAgentOn: await isAgentOn(deps, workspace),
    };
    sendPage(response, toolListPage(signedInOf(response), tools, page));
  });

  router.get('/tools/fragment', async (_request, response) => {
    const workspace = workspaceOf(response);
    const tools = await listToolsWithLastCall(deps, workspace);
    const dailyCalls = await readWeek(deps, workspace, 'tool_call');
    sendPart(response, toolTable(tools, dailyCalls, deps.clock.now()));
  });
}

interface ShownTool {
  /** The call to show. */
  readonly callId?: string | null;
  /** Whether the test call takes its arguments as JSON. */
  readonly asJson?: boolean;
}

async function showTool(
  deps: Deps,
  response: Response,
  status: number,
  id: string,
  { callId = null, asJson = false, ...extras }: ShownTool & Partial<ToolPage>,
): Promise<void> {
  const detail = await readTool(deps, workspaceOf(response), id, callId);
  const form = newForm(argumentValues(detail.tool, detail.shown?.arguments ?? {}, asJson));
  const page = { ...detail, form, now: deps.clock.now(), ...extras };
  sendPage(response, toolPage(signedInOf(response), page), status);
}

function addToolPage(router: Router, deps: Deps): void {
  router.get('/tools/:id', ({ params, query }, response) =>
    showTool(deps, response, 200, params.id, {
      callId: textOf(query.call),
      asJson: query.as === 'json',
      notice: query.notice,
    }),
  );

  router.get('/tools/:id/fragment', async ({ params, query }, response) => {
    const detail = await readTool(deps, workspaceOf(response), params.id, textOf(query.call)).catch(
      leaveIfRemoved(response, '/tools?notice=tool-removed'),
    );
    if (detail === undefined) return;
    const page = { ...detail, now: deps.clock.now() };
    sendPart(response, livePartsOfTool(signedInOf(response), page));
  });
}

function addTestCall(router: Router, deps: Deps, followToolCall: FollowToolCall): void {
  router.post('/tools/:id/test', async (request, response) => {
    const workspace = workspaceOf(response);
    const values = readForm(request);
    const tool = await getTool(deps, workspace, request.params.id);
    const { args, problems } = argumentsFrom(tool, values);
    if (Object.keys(problems).length > 0)
      return showTool(deps, response, 400, tool.id, { form: { values, problems } });
    try {
      const start = () => startTestCall(deps, workspace, tool.id, args);
      const call = await followToolCall(workspace, start, WAIT_MS);
      response.redirect(303, `/tools/${tool.id}?call=${call.id}#tool-call`);
    } catch (error) {
      const form = { values, problems: argumentProblems(error, tool, values) };
      await showTool(deps, response, 400, tool.id, { form });
    }
  });
}

function addActions(router: Router, deps: Deps): void {
  router.post('/tools/:id/go-live', async ({ params }, response) => {
    try {
      const tool = await goLiveWithTool(deps, workspaceOf(response), params.id, undefined);
      response.redirect(303, `/tools/${tool.id}?notice=tool-live`);
    } catch (error) {
      if (!isError(error, 'tool_not_tested')) throw error;
      const refused = 'The tool did not go live. Run a successful test call first.';
      await showTool(deps, response, 409, params.id, { refused });
    }
  });

  router.post('/tools/:id/pause', async ({ params }, response) => {
    const { id, status } = await pauseTool(deps, workspaceOf(response), params.id);
    response.redirect(303, `/tools/${id}?notice=${status === 'paused' ? 'tool-paused' : 'saved'}`);
  });

  router.post('/tools/:id/release', async ({ params: { id } }, response) => {
    await releaseTool(deps, workspaceOf(response), id);
    response.redirect(303, `/tools/${id}?notice=released`);
  });

  router.post('/tools/:id/rotate-secret', async ({ params }, response) => {
    const { tool, secret } = await rotateToolSecret(deps, workspaceOf(response), params.id);
    sendPage(response, secretPage(signedInOf(response), tool, secret, 'rotated'));
  });

  router.post('/tools/:id/remove', async ({ params }, response) => {
    await deleteTool(deps, workspaceOf(response), params.id);
    response.redirect(303, '/tools?notice=tool-removed');
  });
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;
