import { Router, type Response } from 'express';
import { z } from 'zod';
import type { AgentModel } from '../agentModel.ts';
import { tryAgent } from '../tryAgent.ts';
import { LANGUAGES, usesWebhook } from '../agentSettings.ts';
import type { Deps } from '../../platform/deps.ts';
import { MAX_MESSAGE_CHARACTERS } from '../../conversations/index.ts';
import { releaseWebhook } from '../webhook/operations/publishWebhook.ts';
import { readAgent } from '../operations/readAgent.ts';
import { updateAgentSettings } from '../operations/settings.ts';
import { tryWorkflow } from '../webhook/operations/tryWorkflow.ts';
import * as contract from '../contract.ts';
import { changesFrom } from '../views.ts';
import { textSchema } from '../../platform/http/schemas.ts';
import { linesFrom } from '../../tools/screens/textLines.ts';
import { isError } from '../../platform/html/errorPage.ts';
import { newForm, parseForm, readForm, type FormValues } from '../../platform/html/forms.ts';
import { sendPage, sendPart } from '../../platform/html/html.ts';
import { signedInOf, workspaceOf } from '../../team/index.ts';
import { agentPage, livePartsOfAgent } from './agentPage.ts';
import type { AgentPage, ModelInfo } from './agentParts.ts';

/** The model that decides while no workflow does, and how the screens name it. */
export interface ScreenModel extends ModelInfo {
  readonly model: AgentModel;
  readonly timeoutMs: number;
}

interface AgentScreens {
  readonly deps: Deps;
  readonly model: ScreenModel;
  readonly publicUrl: () => string;
  /** Aborts a test at shutdown. */
  readonly stopping: AbortSignal;
}

const messageSchema = z.object({ text: textSchema(MAX_MESSAGE_CHARACTERS) });

/** `/agent`: what decides, settings, and a form to try the agent. */
export function agentScreenRouter(screens: AgentScreens): Router {
  const router = Router();
  addPage(router, screens);
  addSettings(router, screens);
  addChoices(router, screens);
  addTry(router, screens);
  // A page that answered a POST has the form's address. Opening it leads back to the screen.
  router.get('/agent/:action', (_request, response) => response.redirect(303, '/agent'));
  return router;
}

/** What the page and its live parts show. @param turn the id of a test */
const read = async ({ deps, model }: AgentScreens, response: Response, turn: unknown = null) => ({
  ...(await readAgent(deps, workspaceOf(response), typeof turn === 'string' ? turn : null)),
  model,
  now: deps.clock.now(),
});

async function show(
  screens: AgentScreens,
  response: Response,
  status: number,
  { turn, ...extras }: Partial<AgentPage> & { readonly turn?: unknown },
): Promise<void> {
  const publicUrl = screens.publicUrl();
  const page = { ...(await read(screens, response, turn)), publicUrl, ...extras };
  sendPage(response, agentPage(signedInOf(response), page), status);
}

function addPage(router: Router, screens: AgentScreens): void {
  router.get('/agent', ({ query: { notice, turn } }, response) =>
    show(screens, response, 200, { notice, turn }),
  );

  router.get('/agent/fragment', async ({ query }, response) => {
    const parts = await read(screens, response, query.turn);
    sendPart(response, livePartsOfAgent(signedInOf(response), parts));
  });
}

function addSettings(router: Router, screens: AgentScreens): void {
  router.post('/agent', async (request, response) => {
    const values = readForm(request);
    const { name, greeting, instructions, payment_links } = values;
    const languages = languagesFrom(values);
    const handover_phrases = linesFrom(values.handover_phrases ?? '');
    const given = { name, greeting, instructions, languages, payment_links, handover_phrases };
    const form = parseForm(contract.updateAgent.body!, values, given);
    if (!form.ok) return show(screens, response, 400, { form });
    if (languages[0] !== values.preferred) {
      const problems = { preferred: 'Must be one of the languages that are ticked.' };
      return show(screens, response, 400, { form: { values, problems } });
    }
    await updateAgentSettings(screens.deps, workspaceOf(response), changesFrom(form.data));
    response.redirect(303, '/agent?notice=saved');
  });
}

/** On or off, what decides, and whether another workflow may take over. */
function addChoices(router: Router, { deps }: AgentScreens): void {
  router.post('/agent/switch', async (request, response) => {
    const enabled = readForm(request).enabled === 'on';
    await updateAgentSettings(deps, workspaceOf(response), { enabled });
    response.redirect(303, `/agent?notice=${enabled ? 'agent-on' : 'agent-off'}`);
  });

  router.post('/agent/brain', async (request, response) => {
    const isWorkflow = readForm(request).brain === 'workflow';
    await updateAgentSettings(deps, workspaceOf(response), { usesWebhook: isWorkflow });
    response.redirect(303, '/agent?notice=saved');
  });

  router.post('/agent/release', async (_request, response) => {
    await releaseWebhook(deps, workspaceOf(response));
    response.redirect(303, '/agent?notice=released');
  });
}

function addTry(router: Router, screens: AgentScreens): void {
  const { deps, model, stopping } = screens;
  router.post('/agent/try', async (request, response) => {
    const values = readForm(request);
    const form = parseForm(messageSchema, values);
    if (!form.ok) return show(screens, response, 400, { tried: { form, step: null } });
    const workspace = workspaceOf(response);
    const { settings, listening } = await readAgent(deps, workspace, null);
    if (listening !== null || usesWebhook(settings))
      return tryWithWorkflow(screens, response, values, form.data.text);
    const limits = { timeoutMs: model.timeoutMs, signal: stopping };
    const step = await tryAgent(deps, model.model, workspace, form.data.text, limits);
    await show(screens, response, 200, { tried: { form: newForm(values), step } });
  });
}

/** Shows the turn as it begins; live updates show the rest. */
async function tryWithWorkflow(
  screens: AgentScreens,
  response: Response,
  values: FormValues,
  text: string,
): Promise<void> {
  try {
    const { id } = await tryWorkflow(screens.deps, workspaceOf(response), text);
    response.redirect(303, `/agent?turn=${id}#try`);
  } catch (error) {
    if (!isError(error, 'not_found')) throw error;
    const form = { values, problems: { text: error.message } };
    await show(screens, response, 409, { tried: { form, step: null } });
  }
}

/** The chosen languages, the preferred one first. */
const languagesFrom = (values: FormValues) => {
  const chosen = LANGUAGES.filter((language) => values[`language_${language}`] === 'on');
  return chosen.toSorted((a, b) => Number(b === values.preferred) - Number(a === values.preferred));
};
