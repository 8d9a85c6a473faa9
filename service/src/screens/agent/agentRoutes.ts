import { Router, type Response } from 'express';
import { z } from 'zod';
import type { AgentModel } from '../../agent/agentModel.ts';
import { tryAgent } from '../../agent/tryAgent.ts';
import { LANGUAGES } from '../../domain/agentSettings.ts';
import { definedOnly } from '../../domain/definedOnly.ts';
import type { Deps } from '../../domain/deps.ts';
import { MAX_MESSAGE_CHARACTERS } from '../../domain/message.ts';
import { readAgent } from '../../domain/operations/readAgent.ts';
import { updateAgentSettings } from '../../domain/operations/updateAgentSettings.ts';
import * as contract from '../../http/contract/agent.ts';
import { textSchema } from '../../http/contract/shared.ts';
import { formValues, parseForm, withPlainBreaks, type FormValues } from '../forms.ts';
import { renderDocument } from '../html.ts';
import { signedInOf } from '../session.ts';
import { agentPage, type AgentPage, type ModelWords } from './agentPage.ts';

/** What decides for the agent, and how the screens name it. */
export interface ScreenModel extends ModelWords {
  readonly model: AgentModel;
  readonly timeoutMs: number;
}

/** The agent's settings and the box to try it. @param stopping ends what is being tried */
export function agentScreenRouter(
  deps: Deps,
  model: ScreenModel,
  publicUrl: () => string,
  stopping: AbortSignal,
): Router {
  const router = Router();
  const show = async (response: Response, status: number, more: Partial<AgentPage>) => {
    const signedIn = signedInOf(response);
    const read = await readAgent(deps, signedIn.workspace);
    response
      .status(status)
      .type('html')
      .send(renderDocument(agentPage(signedIn, { ...read, model, baseUrl: publicUrl(), ...more })));
  };

  router.get('/agent', (request, response) =>
    show(response, 200, { notice: request.query.notice }),
  );

  router.post('/agent', async (request, response) => {
    const values = withPlainBreaks(formValues(request.body));
    const form = parseForm(contract.updateAgent.body!, {
      name: values.name,
      greeting: values.greeting,
      instructions: values.instructions,
      languages: languagesFrom(values),
      payment_links: values.payment_links,
    });
    if (!form.ok) return show(response, 400, { values, problems: form.problems });
    const { payment_links: paymentLinks, ...named } = form.data;
    await updateAgentSettings(
      deps,
      signedInOf(response).workspace,
      definedOnly({ ...named, paymentLinks }),
    );
    response.redirect(303, '/agent?notice=saved');
  });

  router.post('/agent/switch', async (request, response) => {
    const enabled = formValues(request.body).enabled === 'on';
    await updateAgentSettings(deps, signedInOf(response).workspace, { enabled });
    response.redirect(303, `/agent?notice=${enabled ? 'agent-on' : 'agent-off'}`);
  });

  router.post('/agent/try', async (request, response) => {
    const { text = '' } = withPlainBreaks(formValues(request.body));
    const form = parseForm(z.object({ text: textSchema(MAX_MESSAGE_CHARACTERS) }), { text });
    if (!form.ok)
      return show(response, 400, { tried: { text, step: null, problem: form.problems.text } });
    const step = await tryAgent(deps, model.model, signedInOf(response).workspace, text, {
      timeoutMs: model.timeoutMs,
      signal: stopping,
    });
    await show(response, 200, { tried: { text, step } });
  });

  // A form's answer is shown under the form's address: loading that again leads back.
  router.get('/agent/:action', (_request, response) => response.redirect(303, '/agent'));

  return router;
}

/** The preferred one first. */
const languagesFrom = (values: FormValues) => {
  const chosen = LANGUAGES.filter((language) => values[`language_${language}`] === 'on');
  return chosen.toSorted((a, b) => Number(b === values.preferred) - Number(a === values.preferred));
};
