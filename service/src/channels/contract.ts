import { z } from 'zod';
import { channelTypeSchema } from '../conversations/contract.ts';
import { CONNECTED_CHANNELS } from './registry.ts';
import { operationsOf } from '../platform/http/operation.ts';
import {
  connectionTestSchema,
  settingsSchema,
  shownSettings,
} from '../platform/accounts/setupContract.ts';
import {
  deletedSchema,
  listOf,
  oneOf,
  pageQuerySchema,
  textSchema,
  timestampSchema,
} from '../platform/http/schemas.ts';

const CONNECTED_TYPES = CONNECTED_CHANNELS.map(({ type }) => type);

const channelSchema = z
  .strictObject({
    id: z.string().meta({ example: 'chan_01JD6Z0000000000000000000A' }),
    type: channelTypeSchema,
    name: z.string(),
    ...shownSettings,
    webhook_url: z
      .string()
      .describe("The address to enter in the channel's settings, for its webhooks"),
    last_test: connectionTestSchema.nullable(),
    last_inbound_at: timestampSchema
      .nullable()
      .describe('When the channel last delivered a webhook with a valid signature'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  })
  .meta({ id: 'Channel' });

const operation = operationsOf({ tag: 'Channels', auth: 'key', extension: true });

export const createChannel = operation('POST /channels', {
  addsToStore: 'data',
  summary: 'Connect a channel',
  description:
    'whatsapp_cloud takes phone_number_id, access_token, app_secret and, optionally, verify_token. If you leave verify_token out, the service makes one and returns it. Then enter webhook_url and verify_token in the settings of the channel, and test the channel.',
  body: z
    .strictObject({
      type: oneOf(CONNECTED_TYPES),
      name: textSchema(100),
      settings: settingsSchema,
    })
    .meta({
      example: {
        type: 'whatsapp_cloud',
        name: 'Shop',
        settings: {
          phone_number_id: '106540352242922',
          access_token: 'EAAGm0PX4ZCpsBAJ8',
          app_secret: '0f3a9c5b7d1e4f60',
        },
      },
    }),
  status: 201,
  answer: channelSchema,
  errors: ['channel_exists', 'channel_limit_reached'],
  noIdempotencyKey: true,
});

export const listChannels = operation('GET /channels', {
  summary: 'List channels, newest first',
  description: 'Lists the connected accounts. The web chat is always there and is not listed.',
  query: pageQuerySchema,
  answer: listOf(channelSchema),
});

export const getChannel = operation('GET /channels/:id', {
  summary: 'Get a channel',
  answer: channelSchema,
  errors: ['not_found'],
});

export const updateChannel = operation('PATCH /channels/:id', {
  summary: 'Update a channel',
  description: 'Fields that you leave out keep their values, secrets included.',
  body: z
    .strictObject({ name: textSchema(100).optional(), settings: settingsSchema.optional() })
    .meta({ example: { settings: { access_token: 'EAAGm0PX4ZCpsBAJ8' } } }),
  answer: channelSchema,
  errors: ['not_found', 'channel_exists'],
  noIdempotencyKey: true,
});

export const deleteChannel = operation('DELETE /channels/:id', {
  summary: 'Disconnect a channel',
  description:
    'Its conversations stay. Messages that are not sent yet fail. Connecting the same account again brings its customers back. Its webhook URL stops working: if messages of other numbers arrive there, first enter the webhook URL of one of them where the channel is set up (for WhatsApp: at Meta).',
  answer: deletedSchema,
  errors: ['not_found'],
});

export const testChannel = operation('POST /channels/:id/test', {
  summary: 'Test a channel',
  description: 'Checks the account and its credentials with the channel. No message is sent.',
  answer: connectionTestSchema,
  errors: ['not_found'],
  noIdempotencyKey: true,
});
