import { type Request, type Response, Router } from 'express';
import { isDeepStrictEqual } from 'node:util';
import type { Deps } from '../../platform/deps.ts';
import type { JsonObject } from '../../platform/json.ts';
import { createTool, updateTool } from '../operations/defineTool.ts';
import { getTool } from '../operations/tools.ts';
import type { Tool } from '../tool.ts';
import * as contract from '../contract.ts';
import { toDefinition } from '../views.ts';
import { type FormValues, newForm, type Problems, readForm } from '../../platform/html/forms.ts';
import { sendPage } from '../../platform/html/html.ts';
import { signedInOf, workspaceOf } from '../../team/index.ts';
import {
  changeForm,
  definitionFrom,
  type FormDefinition,
  newToolValues,
  shownValues,
  toolValues,
} from './definitionForm.ts';
import { definitionPage, type DefinitionPage } from './definitionPage.ts';
import { operationProblems, schemaProblems } from './definitionProblems.ts';
import { saysTheSame } from './parameterRows.ts';
import { secretPage } from './secretPage.ts';

/** Creating and changing tools. */
export function definitionRouter(deps: Deps): Router {
  const router = Router();

  router.get('/tools/new', (_request, response) =>
    show(response, 200, { tool: null, form: newForm(newToolValues) }),
  );

  router.get('/tools/:id/edit', async ({ params }, response) => {
    const tool = await getTool(deps, workspaceOf(response), params.id);
    show(response, 200, { tool, form: newForm(toolValues(tool)) });
  });

  router.post('/tools', async (request, response) => {
    await saveForm(request, response, null, async (values) => {
      const written = check(contract.createTool.body!, values, definitionFrom(values));
      if (!written.ok) return written.problems;
      const { endpoint = null, request_template = null, secrets = {}, ...named } = written.body;
      const wanted = { ...toDefinition(named), endpoint, requestTemplate: request_template };
      const signedIn = signedInOf(response);
      const { tool, secret } = await createTool(deps, signedIn.workspace, wanted, secrets);
      if (secret === null) response.redirect(303, `/tools/${tool.id}?notice=tool-created`);
      else sendPage(response, secretPage(signedIn, tool, secret, 'created'), 201);
      return null;
    });
  });

  router.post('/tools/:id', async (request, response) => {
    const workspace = workspaceOf(response);
    const tool = await getTool(deps, workspace, request.params.id);
    await saveForm(request, response, tool, async (typed) => {
      const values = { ...typed, kind: tool.kind };
      const { body, problems } = definitionFrom(values);
      const { kind: _kind, ...changed } = body;
      const written = check(contract.updateTool.body!, values, { body: changed, problems });
      if (!written.ok) return written.problems;
      const { request_template: requestTemplate, secrets = {}, ...named } = written.body;
      const changes = changesOf(tool, { ...toDefinition(named), requestTemplate });
      const updated = await updateTool(deps, workspace, tool.id, changes, secrets);
      const isDraftAgain =
        updated.status === 'draft' &&
        (tool.status !== 'draft' || tool.testedAt !== null) &&
        updated.testedAt === null;
      response.redirect(303, `/tools/${tool.id}?notice=${isDraftAgain ? 'tool-draft' : 'saved'}`);
      return null;
    });
  });

  return router;
}

const show = (response: Response, status: number, page: DefinitionPage) =>
  sendPage(response, definitionPage(signedInOf(response), page), status);

/** Saves the form. Shows it again after a problem, or after a button that changes the form. */
async function saveForm(
  request: Request,
  response: Response,
  tool: Tool | null,
  save: (values: FormValues) => Promise<Problems | null>,
): Promise<void> {
  const values = readForm(request);
  const changed = changeForm(values);
  if (changed) {
    const form = { values: shownValues(changed.values), problems: changed.problems ?? {} };
    return show(response, 200, { tool, form, added: changed.added ?? false });
  }
  const problems = await save(values).catch((error: unknown) => operationProblems(error, values));
  if (problems !== null)
    show(response, 400, { tool, form: { values: shownValues(values), problems } });
}

type BodySchema = NonNullable<typeof contract.createTool.body | typeof contract.updateTool.body>;

/** Checks a form with the API's schema. */
function check<Schema extends BodySchema>(
  schema: Schema,
  values: FormValues,
  { body, problems: unreadable }: FormDefinition,
): { ok: true; body: ReturnType<Schema['parse']> } | { ok: false; problems: Problems } {
  const parsed = schema.safeParse(body);
  if (parsed.success && Object.keys(unreadable).length === 0)
    return { ok: true, body: parsed.data as ReturnType<Schema['parse']> };
  return {
    ok: false,
    problems: { ...(parsed.success ? {} : schemaProblems(parsed.error, values)), ...unreadable },
  };
}

/** What differs from the stored tool. The order of parameters makes no difference. */
const changesOf = (tool: Tool, wanted: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => value !== undefined && !isSame(name, value, tool),
    ),
  );

const isSame = (name: string, value: unknown, tool: Tool) =>
  name === 'parameters'
    ? saysTheSame(value as JsonObject, tool.parameters)
    : isDeepStrictEqual(value, tool[name as keyof Tool]);
