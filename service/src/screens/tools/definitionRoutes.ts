import { Router, type Request, type Response } from 'express';
import { isDeepStrictEqual } from 'node:util';
import type { Deps } from '../../domain/deps.ts';
import type { JsonObject } from '../../domain/json.ts';
import { createTool } from '../../domain/operations/createTool.ts';
import { getTool } from '../../domain/operations/getTool.ts';
import { updateTool } from '../../domain/operations/updateTool.ts';
import type { Tool } from '../../domain/tool.ts';
import * as contract from '../../http/contract/tools.ts';
import { formValues, withPlainBreaks, type FormValues, type Problems } from '../forms.ts';
import { renderDocument } from '../html.ts';
import { signedInOf } from '../session.ts';
import { definitionFrom, newToolValues, shownValues, toolValues } from './definitionForm.ts';
import { definitionPage } from './definitionPage.ts';
import { operationProblems, schemaProblems } from './definitionProblems.ts';
import { changeForm } from './formChanges.ts';
import { saysTheSame } from './parameterRows.ts';
import { secretPage } from './secretPage.ts';

/** Making tools and changing what they are. */
export function definitionRouter(deps: Deps): Router {
  const router = Router();
  const show = (response: Response, status: number, page: Parameters<typeof definitionPage>[1]) =>
    void response
      .status(status)
      .type('html')
      .send(renderDocument(definitionPage(signedInOf(response), page)));

  router.get('/tools/new', (_request, response) =>
    show(response, 200, { tool: null, values: newToolValues }),
  );

  router.get('/tools/:id/edit', async (request, response) => {
    const tool = await getTool(deps, signedInOf(response).workspace, request.params.id);
    show(response, 200, { tool, values: toolValues(tool) });
  });

  router.post('/tools', async (request, response) => {
    await saveForm(request, response, null, async (values) => {
      const written = check(contract.createTool.body!, values);
      if (!written.ok) return written.problems;
      const {
        timeout,
        ask_before_running: askBeforeRunning,
        read_only: readOnly,
        example_phrases: examplePhrases,
        endpoint = null,
        request_template: requestTemplate = null,
        secrets = {},
        ...named
      } = written.body;
      const wanted = {
        ...named,
        timeoutSeconds: timeout,
        askBeforeRunning,
        readOnly,
        examplePhrases,
        endpoint,
        requestTemplate,
      };
      const { tool, secret } = await createTool(
        deps,
        signedInOf(response).workspace,
        wanted,
        secrets,
      );
      if (secret === null) response.redirect(303, `/tools/${tool.id}?notice=tool-created`);
      else
        response
          .status(201)
          .type('html')
          .send(renderDocument(secretPage(signedInOf(response), tool, secret, 'created')));
      return null;
    });
  });

  router.post('/tools/:id', async (request, response) => {
    const { workspace } = signedInOf(response);
    const tool = await getTool(deps, workspace, request.params.id);
    await saveForm(request, response, tool, async (values) => {
      const { kind: _kind, ...body } = definitionFrom({ ...values, kind: tool.kind }).body;
      const written = check(contract.updateTool.body!, { ...values, kind: tool.kind }, body);
      if (!written.ok) return written.problems;
      const {
        timeout,
        ask_before_running: askBeforeRunning,
        read_only: readOnly,
        example_phrases: examplePhrases,
        request_template: requestTemplate,
        secrets = {},
        ...named
      } = written.body;
      const changes = changesOf(tool, {
        ...named,
        requestTemplate,
        timeoutSeconds: timeout,
        askBeforeRunning,
        readOnly,
        examplePhrases,
      });
      const updated = await updateTool(deps, workspace, tool.id, changes, secrets);
      const isDraftNow =
        updated.status === 'draft' &&
        (tool.status !== 'draft' || tool.testedAt !== null) &&
        updated.testedAt === null;
      response.redirect(303, `/tools/${tool.id}?notice=${isDraftNow ? 'tool-draft' : 'saved'}`);
      return null;
    });
  });

  /** A button that changes the form shows it again; so does what is wrong in it. */
  async function saveForm(
    request: Request,
    response: Response,
    tool: Tool | null,
    save: (values: FormValues) => Promise<Problems | null>,
  ): Promise<void> {
    const values = withPlainBreaks(formValues(request.body));
    const changed = changeForm(values);
    if (changed)
      return show(response, 200, { tool, ...changed, values: shownValues(changed.values) });
    const problems = await save(values).catch((error: unknown) => operationProblems(error, values));
    if (problems !== null) show(response, 400, { tool, values: shownValues(values), problems });
  }

  return router;
}

type BodySchema = NonNullable<typeof contract.createTool.body | typeof contract.updateTool.body>;

/** Holds what the form says against what the API takes. */
function check<Schema extends BodySchema>(
  schema: Schema,
  values: FormValues,
  body: unknown = definitionFrom(values).body,
): { ok: true; body: ReturnType<Schema['parse']> } | { ok: false; problems: Problems } {
  const { problems: unreadable } = definitionFrom(values);
  const parsed = schema.safeParse(body);
  if (parsed.success && Object.keys(unreadable).length === 0)
    return { ok: true, body: parsed.data as ReturnType<Schema['parse']> };
  return {
    ok: false,
    problems: { ...(parsed.success ? {} : schemaProblems(parsed.error, values)), ...unreadable },
  };
}

/**
 * What differs from the stored tool: parameters that say the same in another order are no change.
 */
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
