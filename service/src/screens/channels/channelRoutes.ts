import { Router, type Response } from 'express';
import { z } from 'zod';
import type { ChannelsConfig } from '../../channels/channelAdapter.ts';
import { connectedChannel, CONNECTED_CHANNELS } from '../../channels/registry.ts';
import { MAX_CHANNELS, type Channel } from '../../domain/channel.ts';
import type { Deps } from '../../domain/deps.ts';
import { AppError, notFound } from '../../domain/errorCatalogue.ts';
import {
  createChannel,
  deleteChannel,
  getChannel,
  listChannels,
  testChannel,
  updateChannel,
} from '../../domain/operations/channels.ts';
import { openGenerated } from '../../domain/accountSetup.ts';
import { textSchema } from '../../http/contract/shared.ts';
import { askChannelWith } from '../../http/routes/channels.ts';
import {
  formValues,
  parseForm,
  withPlainBreaks,
  type FormValues,
  type Problems,
} from '../forms.ts';
import { html, render, renderDocument, type View } from '../html.ts';
import { signedInOf } from '../session.ts';
import { channelPage, connectionSection, type ChannelPage } from './channelPage.ts';
import { accountsSection, channelsPage } from './channelsPage.ts';
import { newChannelPage, type NewChannelPage } from './newChannelPage.ts';
import { setupFrom, setupProblems } from './setupForm.ts';

const nameSchema = z.object({ name: textSchema(100) });

/** `/channels`: where conversations come from. */
export function channelScreensRouter(deps: Deps, config: ChannelsConfig): Router {
  const router = Router();
  const now = () => deps.clock.now();
  const workspaceOf = (response: Response) => signedInOf(response).workspace;
  const allOf = async (response: Response) =>
    (await listChannels(deps, workspaceOf(response), { limit: MAX_CHANNELS, cursor: null })).items;
  const send = (response: Response, status: number, page: View) =>
    void response.status(status).type('html').send(renderDocument(page));

  router.get('/channels', async ({ query }, response) =>
    send(
      response,
      200,
      channelsPage(signedInOf(response), {
        channels: await allOf(response),
        publicUrl: deps.publicUrl(),
        now: now(),
        notice: query.notice,
      }),
    ),
  );

  router.get(
    '/channels/fragment',
    async (_request, response) =>
      void response.type('html').send(render(accountsSection(await allOf(response), now()))),
  );

  const showNew = (
    response: Response,
    status: number,
    type: unknown,
    more: Partial<NewChannelPage> = {},
  ) =>
    send(
      response,
      status,
      newChannelPage(signedInOf(response), {
        adapter: adapterNamed(type),
        publicUrl: deps.publicUrl(),
        ...more,
      }),
    );

  router.get('/channels/new', ({ query }, response) => showNew(response, 200, query.type));

  router.post('/channels', async ({ body }, response) => {
    const values = withPlainBreaks(formValues(body));
    const { type, fields } = adapterNamed(values.type);
    await save(
      values,
      async (name) => {
        const channel = await createChannel(deps, workspaceOf(response), {
          type,
          name,
          values: setupFrom(fields, values),
        });
        response.redirect(303, `/channels/${channel.id}?notice=channel-connected`);
      },
      (status, refusal) => showNew(response, status, type, { values, ...refusal }),
    );
  });

  const show = (
    response: Response,
    status: number,
    channel: Channel,
    more: Partial<ChannelPage> = {},
  ) => {
    const shown = openGenerated(deps, connectedChannel(channel.type).fields, channel);
    send(
      response,
      status,
      channelPage(signedInOf(response), {
        channel,
        shown,
        publicUrl: deps.publicUrl(),
        now: now(),
        ...more,
      }),
    );
  };

  router.get('/channels/:id', async ({ params, query }, response) =>
    show(response, 200, await getChannel(deps, workspaceOf(response), params.id), {
      notice: query.notice,
    }),
  );

  router.get('/channels/:id/fragment', async ({ params }, response) => {
    const channel = await getChannel(deps, workspaceOf(response), params.id).catch(
      (error: unknown) => leaveIfGone(response, error),
    );
    response
      .type('html')
      .send(render(connectionSection(signedInOf(response), { channel, now: now() })));
  });

  router.post('/channels/:id', async ({ params, body }, response) => {
    const values = withPlainBreaks(formValues(body));
    const channel = await getChannel(deps, workspaceOf(response), params.id);
    const { fields } = connectedChannel(channel.type);
    await save(
      values,
      async (name) => {
        await updateChannel(deps, workspaceOf(response), channel.id, {
          name,
          values: setupFrom(fields, values),
        });
        response.redirect(303, `/channels/${channel.id}?notice=saved`);
      },
      (status, refusal) => show(response, status, channel, { values, ...refusal }),
    );
  });

  router.post('/channels/:id/test', async ({ params }, response) => {
    const { ok } = await testChannel(
      deps,
      workspaceOf(response),
      params.id,
      askChannelWith(config),
    );
    response.redirect(
      303,
      `/channels/${params.id}?notice=${ok ? 'channel-tested' : 'channel-test-failed'}`,
    );
  });

  router.post('/channels/:id/disconnect', async ({ params }, response) => {
    await deleteChannel(deps, workspaceOf(response), params.id);
    response.redirect(303, '/channels?notice=channel-disconnected');
  });

  // A form's answer is shown under the form's address: loading that again leads back to the
  // channel.
  router.get('/channels/:id/:action', ({ params }, response) =>
    response.redirect(303, `/channels/${params.id}`),
  );

  return router;
}

/** @throws not_found (404) for what is no channel, or none that is connected */
function adapterNamed(type: unknown) {
  const adapter = CONNECTED_CHANNELS.find((each) => each.type === type);
  if (!adapter) throw notFound('channel of the type', typeof type === 'string' ? type : '');
  return adapter;
}

interface Refusal {
  readonly problems?: Problems;
  readonly refused?: View;
}

/**
 * Saves what a form says. @param refuse shows the form again, with what is wrong beside its fields
 */
async function save(
  values: FormValues,
  write: (name: string) => Promise<void>,
  refuse: (status: number, refusal: Refusal) => void,
): Promise<void> {
  const form = parseForm(nameSchema, { name: values.name });
  if (!form.ok) return refuse(400, { problems: form.problems });
  try {
    await write(form.data.name);
  } catch (error) {
    const problems = setupProblems(error);
    if (problems !== null) return refuse(400, { problems });
    if (!(error instanceof AppError) || error.status !== 409) throw error;
    refuse(409, { refused: conflictView(error) });
  }
}

const conflictView = ({ message, details }: AppError): View =>
  details.existingId === undefined
    ? message
    : html`This account is connected already: <a href=${`/channels/${details.existingId}`}>open it</a> to change it, or disconnect it first.`;

/**
 * A page of a channel that somebody disconnected a moment ago goes back to the list. @throws the
 * error
 */
function leaveIfGone(response: Response, error: unknown): never {
  if (error instanceof AppError && error.code === 'not_found')
    response.set('HX-Redirect', '/channels?notice=channel-disconnected');
  throw error;
}
