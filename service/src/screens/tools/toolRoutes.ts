import { Router, type Response } from 'express';
import type { Deps } from '../../domain/deps.ts';
import { AppError } from '../../domain/errorCatalogue.ts';
import { deleteTool } from '../../domain/operations/deleteTool.ts';
import { getTool } from '../../domain/operations/getTool.ts';
import { goLiveWithTool } from '../../domain/operations/goLiveWithTool.ts';
import { listToolsWithLastCall } from '../../domain/operations/listToolsWithLastCall.ts';
import { pauseTool } from '../../domain/operations/pauseTool.ts';
import { readTool } from '../../domain/operations/readTool.ts';
import { rotateToolSecret } from '../../domain/operations/rotateToolSecret.ts';
import { startTestCall } from '../../domain/operations/startTestCall.ts';
import type { FollowToolCall } from '../../http/toolCallFeed.ts';
import { formValues } from '../forms.ts';
import { render, renderDocument } from '../html.ts';
import { signedInOf } from '../session.ts';
import { argumentProblems, argumentsFrom, argumentValues } from './argumentsForm.ts';
import { definitionRouter } from './definitionRoutes.ts';
import { secretPage } from './secretPage.ts';
import { toolListPage, toolTable } from './toolListPage.ts';
import { livePartsOfTool, toolPage, type ToolPage } from './toolPage.ts';

/** A browser waits so long for a test call before it is shown as running. */
const WAIT_MS = 8000;

/** The tools: list, one tool, and what is done with it. */
export function toolScreensRouter(deps: Deps, followToolCall: FollowToolCall): Router {
  const router = Router();
  const now = () => deps.clock.now();
  const workspaceOf = (response: Response) => signedInOf(response).workspace;

  router.get('/tools', async (request, response) => {
    const tools = await listToolsWithLastCall(deps, workspaceOf(response));
    response
      .type('html')
      .send(renderDocument(toolListPage(signedInOf(response), tools, now(), request.query.notice)));
  });

  router.get(
    '/tools/fragment',
    async (_request, response) =>
      void response
        .type('html')
        .send(render(toolTable(await listToolsWithLastCall(deps, workspaceOf(response)), now()))),
  );

  router.use(definitionRouter(deps));

  const show = async (
    response: Response,
    status: number,
    id: string,
    {
      callId = null,
      asJson = false,
      ...more
    }: Partial<ToolPage> & { callId?: string | null; asJson?: boolean },
  ) => {
    const detail = await readTool(deps, workspaceOf(response), id, callId);
    const values = argumentValues(detail.tool, detail.shown?.arguments ?? {}, asJson);
    response
      .status(status)
      .type('html')
      .send(
        renderDocument(toolPage(signedInOf(response), { ...detail, values, now: now(), ...more })),
      );
  };

  router.get('/tools/:id', ({ params, query }, response) =>
    show(response, 200, params.id, {
      callId: textOf(query.call),
      asJson: query.as === 'json',
      notice: query.notice,
    }),
  );

  router.get('/tools/:id/fragment', async ({ params, query }, response) => {
    const detail = await readTool(deps, workspaceOf(response), params.id, textOf(query.call)).catch(
      (error: unknown) => leaveIfGone(response, error),
    );
    response
      .type('html')
      .send(render(livePartsOfTool(signedInOf(response), { ...detail, now: now() })));
  });

  router.post('/tools/:id/test', async ({ params, body }, response) => {
    const values = formValues(body);
    const tool = await getTool(deps, workspaceOf(response), params.id);
    const { args, problems } = argumentsFrom(tool, values);
    if (Object.keys(problems).length > 0) return show(response, 400, tool.id, { values, problems });
    try {
      const { call } = await followToolCall(
        workspaceOf(response),
        () => startTestCall(deps, workspaceOf(response), tool.id, args),
        WAIT_MS,
      );
      response.redirect(303, `/tools/${tool.id}?call=${call.id}#tool-call`);
    } catch (error) {
      await show(response, 400, tool.id, {
        values,
        problems: argumentProblems(error, tool, values),
      });
    }
  });

  router.post('/tools/:id/go-live', async ({ params }, response) => {
    try {
      const tool = await goLiveWithTool(deps, workspaceOf(response), params.id, undefined);
      response.redirect(303, `/tools/${tool.id}?notice=tool-live`);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'tool_not_tested') throw error;
      await show(response, 409, params.id, {
        refused: 'It did not go live: no call of this definition has succeeded yet.',
      });
    }
  });

  router.post('/tools/:id/pause', async ({ params }, response) => {
    const tool = await pauseTool(deps, workspaceOf(response), params.id);
    response.redirect(
      303,
      `/tools/${tool.id}?notice=${tool.status === 'paused' ? 'tool-paused' : 'saved'}`,
    );
  });

  router.post('/tools/:id/rotate-secret', async ({ params }, response) => {
    const { tool, secret } = await rotateToolSecret(deps, workspaceOf(response), params.id);
    response
      .type('html')
      .send(renderDocument(secretPage(signedInOf(response), tool, secret, 'rotated')));
  });

  router.post('/tools/:id/remove', async ({ params }, response) => {
    await deleteTool(deps, workspaceOf(response), params.id);
    response.redirect(303, '/tools?notice=tool-removed');
  });

  // A form's answer is shown under the form's address: loading that again leads back to the tool.
  router.get('/tools/:id/:action', ({ params }, response) =>
    response.redirect(303, `/tools/${params.id}`),
  );

  return router;
}

/** A page of a tool that somebody removed a moment ago goes back to the list. @throws the error */
function leaveIfGone(response: Response, error: unknown): never {
  if (error instanceof AppError && error.code === 'not_found')
    response.set('HX-Redirect', '/tools?notice=tool-removed');
  throw error;
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;
