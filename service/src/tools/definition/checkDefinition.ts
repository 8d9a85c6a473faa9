import type { Bounds } from '../../platform/limits/bounds.ts';
import { loopShare } from '../../platform/limits/loopShare.ts';
import type { Deps } from '../../platform/deps.ts';
import { ParametersError } from '../../platform/linearPattern.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { compileParameters } from './parametersSchema.ts';
import { RequestTemplateError, parseRequestTemplate } from './requestTemplate.ts';
import type { ToolDefinition } from '../tool.ts';
import type { Workspace } from '../../team/index.ts';

/** A definition as a caller gives it, unchecked. */
export type WantedDefinition = Omit<ToolDefinition, 'requestTemplate'> & {
  readonly requestTemplate: unknown;
};

/**
 * Checks a whole definition: its schema, its template, and whether its address may be called.
 * @param secretNames the names that `{{secrets.NAME}}` may use
 * @param before the definition before a change. An unchanged address is not looked up again, so a
 * tool can be edited while its system is down
 * @returns the definition with the template in its stored form
 * @throws invalid_request (400) that names the field; rate_limited (429) when too many checks wait;
 * target_url_* (422)
 */
export async function checkDefinition(
  { checkTargetUrl, bounds }: Pick<Deps, 'checkTargetUrl' | 'bounds'>,
  workspace: Pick<Workspace, 'id'>,
  wanted: WantedDefinition,
  secretNames: readonly string[],
  before?: ToolDefinition,
): Promise<ToolDefinition> {
  refuseMixedKinds(wanted, secretNames);
  const parse = () => {
    compileParameters(wanted.parameters);
    if (wanted.kind === 'Webhook') return { ...wanted, requestTemplate: null };
    return {
      ...wanted,
      requestTemplate: parseRequestTemplate(wanted.requestTemplate, {
        parameters: wanted.parameters,
        secretNames,
      }),
    };
  };
  const definition = await checkInTurn(workspace, bounds, () => asCallerError(parse));
  const address = addressOf(definition);
  if (before === undefined || address !== addressOf(before))
    await checkTargetUrl(
      workspace,
      address,
      definition.kind === 'Webhook' ? 'endpoint' : 'request_template.url',
    );
  return definition;
}

const addressOf = ({ endpoint, requestTemplate }: ToolDefinition) =>
  requestTemplate === null ? endpoint! : withoutPlaceholders(requestTemplate.url);

/** Placeholders stand only in the path and the query, so the address does not depend on them. */
const withoutPlaceholders = (url: string) => url.replace(/\{\{.*?\}\}/gs, 'x');

function refuseMixedKinds(
  { kind, endpoint, requestTemplate }: WantedDefinition,
  secretNames: readonly string[],
): void {
  const refuse = (param: string, message: string) => {
    throw new AppError('invalid_request', `${param} ${message}.`, { param });
  };
  if (kind === 'Webhook') {
    if (endpoint === null)
      refuse('endpoint', 'is missing: a Webhook tool needs the https:// address that is called');
    if (requestTemplate !== null)
      refuse('request_template', 'is for the HTTP kind; a Webhook tool has an endpoint');
    if (secretNames.length > 0)
      refuse('secrets', 'are for the HTTP kind; a Webhook tool has a signing secret of its own');
  } else {
    if (requestTemplate === null)
      refuse('request_template', 'is missing: an HTTP tool needs it to know how to call');
    if (endpoint !== null)
      refuse('endpoint', 'is for the Webhook kind; an HTTP tool has request_template.url');
  }
}

function asCallerError<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof ParametersError || error instanceof RequestTemplateError)
      throw new AppError('invalid_request', error.message, { param: error.param });
    throw error;
  }
}

/**
 * How many checks of one workspace may wait. A check takes up to a quarter of a second, so callers
 * in a longer queue would give up before their turn comes.
 */
const MAX_WAITING = 50;

/**
 * Checks a tool's definition, or the arguments of a test call, when the workspace's turn comes. A
 * check may block the event loop for a moment; those of one workspace do not hold up another's.
 * @throws what the check throws; rate_limited (429) when too many checks of the workspace wait
 */
export async function checkInTurn<T>(
  workspace: Pick<Workspace, 'id'>,
  bounds: Bounds,
  check: () => T,
): Promise<T> {
  if (loopShare.waitingOf(workspace.id) >= MAX_WAITING) {
    bounds.reached('workspace_checks');
    throw new AppError(
      'rate_limited',
      `${MAX_WAITING} definitions and test calls of this workspace wait to be checked. Try again in a few seconds, with fewer at once.`,
      { retryAfterSeconds: 5 },
    );
  }
  return loopShare.run(workspace.id, check);
}
