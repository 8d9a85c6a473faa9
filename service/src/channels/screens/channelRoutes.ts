import { Router, type Response } from 'express';
import { z } from 'zod';
import type { ChannelsConfig } from '../channelAdapter.ts';
import { connectedChannel, CONNECTED_CHANNELS } from '../registry.ts';
import { testChannel } from '../testChannel.ts';
import { MAX_CHANNELS, type Channel } from '../channel.ts';
import type { Deps } from '../../platform/deps.ts';
import { AppError, notFound } from '../../platform/http/errorCatalogue.ts';
import {
  createChannel,
  deleteChannel,
  getChannel,
  listChannels,
  updateChannel,
} from '../operations/channels.ts';
import { openGenerated } from '../../platform/accounts/accountSetup.ts';
import { textSchema } from '../../platform/http/schemas.ts';
import { setupFrom, setupProblems } from '../../platform/html/accountForm.ts';
import { leaveIfRemoved } from '../../platform/html/errorPage.ts';
import { parseForm, readForm, type FormState, type FormValues } from '../../platform/html/forms.ts';
import { html, sendPage, sendPart, type View } from '../../platform/html/html.ts';
import { isOwner, signedInOf, workspaceOf } from '../../team/index.ts';
import {
  channelPage,
  connectionSection,
  newChannelPage,
  type ChannelPage,
  type NewChannelPage,
} from './channelPage.ts';
import { accountsSection, channelsPage } from './channelsPage.ts';

const nameSchema = z.object({ name: textSchema(100) });

/** `/channels`: the list, new accounts, and each connected account. */
export function channelScreensRouter(deps: Deps, config: ChannelsConfig): Router {
  const router = Router();
  addListRoutes(router, deps);
  addNewAccountRoutes(router, deps);
  addAccountRoutes(router, deps, config);
  return router;
}

async function listAll(deps: Deps, response: Response): Promise<readonly Channel[]> {
  const page = { limit: MAX_CHANNELS, cursor: null };
  return (await listChannels(deps, workspaceOf(response), page)).items;
}

function addListRoutes(router: Router, deps: Deps): void {
  router.get('/channels', async ({ query: { notice } }, response) => {
    const channels = await listAll(deps, response);
    const page = { channels, publicUrl: deps.publicUrl(), now: deps.clock.now(), notice };
    sendPage(response, channelsPage(signedInOf(response), page));
  });

  router.get('/channels/fragment', async (_request, response) =>
    sendPart(response, accountsSection(await listAll(deps, response), deps.clock.now())),
  );
}

function addNewAccountRoutes(router: Router, deps: Deps): void {
  const show = (
    response: Response,
    status: number,
    type: unknown,
    refusal: Partial<NewChannelPage> = {},
  ) => {
    const page = { adapter: findAdapter(type), publicUrl: deps.publicUrl(), ...refusal };
    sendPage(response, newChannelPage(signedInOf(response), page), status);
  };

  router.get('/channels/new', ({ query }, response) => show(response, 200, query.type));

  router.post('/channels', async (request, response) => {
    const values = readForm(request);
    const { type, fields } = findAdapter(values.type);
    await save(
      values,
      async (name) => {
        const wanted = { type, name, values: setupFrom(fields, values) };
        const { id } = await createChannel(deps, workspaceOf(response), wanted);
        response.redirect(303, `/channels/${id}?notice=channel-connected`);
      },
      (status, refusal) => show(response, status, type, refusal),
    );
  });
}

function addAccountRoutes(router: Router, deps: Deps, config: ChannelsConfig): void {
  const show = async (
    response: Response,
    status: number,
    channel: Channel,
    extras: Partial<ChannelPage>,
  ) => {
    const all = await listAll(deps, response);
    const hasOthers = all.some(({ id, type }) => type === channel.type && id !== channel.id);
    const signedIn = signedInOf(response);
    const { fields } = connectedChannel(channel.type);
    const shown = isOwner(signedIn.member) ? openGenerated(deps, fields, channel) : {};
    const now = deps.clock.now();
    const page = { channel, hasOthers, shown, publicUrl: deps.publicUrl(), now, ...extras };
    sendPage(response, channelPage(signedIn, page), status);
  };

  router.get('/channels/:id', async ({ params, query }, response) => {
    const channel = await getChannel(deps, workspaceOf(response), params.id);
    await show(response, 200, channel, { notice: query.notice });
  });

  router.get('/channels/:id/fragment', async ({ params }, response) => {
    const channel = await getChannel(deps, workspaceOf(response), params.id).catch(
      leaveIfRemoved(response, '/channels?notice=channel-disconnected'),
    );
    if (channel !== undefined)
      sendPart(response, connectionSection(signedInOf(response), channel, deps.clock.now()));
  });

  router.post('/channels/:id', async (request, response) => {
    const values = readForm(request);
    const workspace = workspaceOf(response);
    const channel = await getChannel(deps, workspace, request.params.id);
    const { fields } = connectedChannel(channel.type);
    await save(
      values,
      async (name) => {
        const changes = { name, values: setupFrom(fields, values) };
        await updateChannel(deps, workspace, channel.id, changes);
        response.redirect(303, `/channels/${channel.id}?notice=saved`);
      },
      (status, refusal) => show(response, status, channel, refusal),
    );
  });

  router.post('/channels/:id/test', async ({ params: { id } }, response) => {
    const { ok } = await testChannel(deps, config, workspaceOf(response), id);
    const notice = ok ? 'channel-tested' : 'channel-test-failed';
    response.redirect(303, `/channels/${id}?notice=${notice}`);
  });

  router.post('/channels/:id/disconnect', async ({ params }, response) => {
    await deleteChannel(deps, workspaceOf(response), params.id);
    response.redirect(303, '/channels?notice=channel-disconnected');
  });

  // A page that answered a POST has the form's address. Opening it leads back to the channel.
  router.get('/channels/:id/:action', ({ params }, response) =>
    response.redirect(303, `/channels/${params.id}`),
  );
}

/** @throws not_found (404) for a type of channel that does not exist or needs no account */
function findAdapter(type: unknown) {
  const adapter = CONNECTED_CHANNELS.find((each) => each.type === type);
  if (!adapter) throw notFound('channel of the type', typeof type === 'string' ? type : '');
  return adapter;
}

interface Refusal {
  readonly form: FormState;
  readonly refused?: View;
}

/** Saves a form. @param refuse shows the form again with its problems */
async function save(
  values: FormValues,
  write: (name: string) => Promise<void>,
  refuse: (status: number, refusal: Refusal) => void | Promise<void>,
): Promise<void> {
  const form = parseForm(nameSchema, values);
  if (!form.ok) return refuse(400, { form });
  try {
    await write(form.data.name);
  } catch (error) {
    const problems = setupProblems(error);
    if (problems !== null) return refuse(400, { form: { values, problems } });
    if (!(error instanceof AppError) || error.status !== 409) throw error;
    await refuse(409, { form: { values, problems: {} }, refused: conflictView(error) });
  }
}

const conflictView = ({ message, details }: AppError): View =>
  details.existingId === undefined
    ? message
    : html`
      This account is already connected. <a href=${`/channels/${details.existingId}`}>
        Open it
      </a> to change or disconnect it.
    `;
