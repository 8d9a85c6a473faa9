import { z } from 'zod';
import { CHANNEL_TYPES, CONNECTED_CHANNELS } from '../../channels/registry.ts';
import { operation } from './operation.ts';
import { connectionTestSchema, settingsSchema, shownSettings } from './setup.ts';
import { listOf, pageQuerySchema, textSchema, timestampSchema } from './shared.ts';

const CONNECTED_TYPES = CONNECTED_CHANNELS.map(({ type }) => type);

/** The type of a channel, as conversations name it. */
export const channelTypeSchema = z.enum(
  [...CHANNEL_TYPES],
  `must be one of ${CHANNEL_TYPES.join(', ')}`,
);

const channelSchema = z
  .strictObject({
    id: z.string().meta({ example: 'chan_01JD6Z0000000000000000000A' }),
    type: channelTypeSchema,
    name: z.string(),
    ...shownSettings,
    webhook_url: z
      .string()
      .meta({ description: "The address to enter in the channel's settings, for its webhooks" }),
    last_test: connectionTestSchema.nullable(),
    last_inbound_at: timestampSchema
      .nullable()
      .meta({ description: 'When the channel last delivered a webhook with a valid signature' }),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  })
  .meta({ id: 'Channel' });

const common = { tag: 'Channels', auth: 'key', extension: true } as const;

export const createChannel = operation({
  ...common,
  id: 'createChannel',
  adds: 'data',
  method: 'post',
  path: '/channels',
  summary: 'Connect a channel',
  description:
    'whatsapp_cloud takes phone_number_id, access_token, app_secret and, optionally, verify_token. If you leave verify_token out, the service makes one and returns it. Then enter webhook_url and verify_token in the settings of the channel, and test the channel.',
  body: z
    .strictObject({
      type: z.enum(CONNECTED_TYPES, `must be one of ${CONNECTED_TYPES.join(', ')}`),
      name: textSchema(100),
      settings: settingsSchema,
    })
    .meta({
      example: {
        type: 'whatsapp_cloud',
        name: 'Shop',
        settings: {
          phone_number_id: '106540352242922',
          access_token: 'EAAG…',
          app_secret: '0f3a…',
        },
      },
    }),
  status: 201,
  answer: channelSchema,
  errors: ['channel_exists', 'channel_limit_reached', 'idempotency_key_not_allowed'],
  noIdempotencyKey: true,
});

export const listChannels = operation({
  ...common,
  id: 'listChannels',
  method: 'get',
  path: '/channels',
  summary: 'List channels, newest first',
  description: 'Lists the connected accounts. The web chat is always there and is not listed.',
  query: pageQuerySchema,
  status: 200,
  answer: listOf(channelSchema),
  errors: [],
});

export const getChannel = operation({
  ...common,
  id: 'getChannel',
  method: 'get',
  path: '/channels/:id',
  summary: 'Get a channel',
  status: 200,
  answer: channelSchema,
  errors: ['not_found'],
});

export const updateChannel = operation({
  ...common,
  id: 'updateChannel',
  method: 'patch',
  path: '/channels/:id',
  summary: 'Update a channel',
  description: 'Fields that you leave out keep their values, secrets included.',
  body: z
    .strictObject({ name: textSchema(100).optional(), settings: settingsSchema.optional() })
    .meta({ example: { settings: { access_token: 'EAAG…' } } }),
  status: 200,
  answer: channelSchema,
  errors: ['not_found', 'channel_exists', 'idempotency_key_not_allowed'],
  noIdempotencyKey: true,
});

export const deleteChannel = operation({
  ...common,
  id: 'deleteChannel',
  method: 'delete',
  path: '/channels/:id',
  summary: 'Disconnect a channel',
  description:
    'Its conversations stay. Messages that are not sent yet fail. Connecting the same account again brings its customers back.',
  status: 200,
  answer: z.strictObject({ id: z.string(), deleted: z.literal(true) }),
  errors: ['not_found'],
});

export const testChannel = operation({
  ...common,
  id: 'testChannel',
  method: 'post',
  path: '/channels/:id/test',
  summary: 'Test a channel',
  description: 'Checks the account and its credentials with the channel. No message is sent.',
  status: 200,
  answer: connectionTestSchema,
  errors: ['not_found', 'idempotency_key_not_allowed'],
  noIdempotencyKey: true,
});
