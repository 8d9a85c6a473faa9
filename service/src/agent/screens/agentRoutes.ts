import { Router, type Response } from 'express';
import { z } from 'zod';
import type { AgentModel } from '../agentModel.ts';
import { tryAgent } from '../tryAgent.ts';
import { LANGUAGES } from '../agentSettings.ts';
import { definedOnly } from '../../platform/json.ts';
import type { Deps } from '../../platform/deps.ts';
import { MAX_MESSAGE_CHARACTERS } from '../../conversations/index.ts';
import { readAgent, updateAgentSettings } from '../operations/settings.ts';
import * as contract from '../contract.ts';
import { textSchema } from '../../platform/http/schemas.ts';
import { linesFrom } from '../../tools/screens/textLines.ts';
import { parseForm, readForm, type FormValues } from '../../platform/html/forms.ts';
import { sendPage } from '../../platform/html/html.ts';
import { signedInOf, workspaceOf } from '../../team/index.ts';
import { agentPage, type AgentPage, type ModelInfo } from './agentPage.ts';

/** The model that decides for the agent, and how the screens name it. */
export interface ScreenModel extends ModelInfo {
  readonly model: AgentModel;
  readonly timeoutMs: number;
}

const messageSchema = z.object({ text: textSchema(MAX_MESSAGE_CHARACTERS) });

/** `/agent`: settings, and a form to try the agent. @param stopping aborts a try at shutdown */
export function agentScreenRouter(
  deps: Deps,
  model: ScreenModel,
  publicUrl: () => string,
  stopping: AbortSignal,
): Router {
  const router = Router();
  const show = async (response: Response, status: number, extras: Partial<AgentPage>) => {
    const signedIn = signedInOf(response);
    const agent = await readAgent(deps, signedIn.workspace);
    const page = { ...agent, model, publicUrl: publicUrl(), ...extras };
    sendPage(response, agentPage(signedIn, page), status);
  };

  router.get('/agent', ({ query }, response) => show(response, 200, { notice: query.notice }));

  router.post('/agent', async (request, response) => {
    const values = readForm(request);
    const { name, greeting, instructions, payment_links } = values;
    const given = { name, greeting, instructions, languages: languagesFrom(values), payment_links };
    const form = parseForm(contract.updateAgent.body!, values, {
      ...given,
      handover_phrases: linesFrom(values.handover_phrases ?? ''),
    });
    if (!form.ok) return show(response, 400, { form });
    const { payment_links: paymentLinks, handover_phrases: handoverPhrases, ...others } = form.data;
    const changes = definedOnly({ ...others, paymentLinks, handoverPhrases });
    await updateAgentSettings(deps, workspaceOf(response), changes);
    response.redirect(303, '/agent?notice=saved');
  });

  router.post('/agent/switch', async (request, response) => {
    const enabled = readForm(request).enabled === 'on';
    await updateAgentSettings(deps, workspaceOf(response), { enabled });
    response.redirect(303, `/agent?notice=${enabled ? 'agent-on' : 'agent-off'}`);
  });

  router.post('/agent/try', async (request, response) => {
    const values = readForm(request);
    const form = parseForm(messageSchema, values);
    if (!form.ok) return show(response, 400, { tried: { form, step: null } });
    const workspace = workspaceOf(response);
    const limits = { timeoutMs: model.timeoutMs, signal: stopping };
    const step = await tryAgent(deps, model.model, workspace, form.data.text, limits);
    await show(response, 200, { tried: { form: { values, problems: {} }, step } });
  });

  // A page that answered a POST has the form's address. Reloading it leads back to the screen.
  router.get('/agent/:action', (_request, response) => response.redirect(303, '/agent'));

  return router;
}

/** The chosen languages, the preferred one first. */
const languagesFrom = (values: FormValues) => {
  const chosen = LANGUAGES.filter((language) => values[`language_${language}`] === 'on');
  return chosen.toSorted((a, b) => Number(b === values.preferred) - Number(a === values.preferred));
};
