import { z } from 'zod';
import { operationsOf } from '../../platform/http/operation.ts';
import {
  ADDRESS_ERRORS,
  booleanSchema,
  ownerIdentityFields,
  ownerSchema,
  plainTextSchema,
  revisionSchema,
  secretHashSchema,
  timestampSchema,
} from '../../platform/http/schemas.ts';
import {
  DEFAULT_TURN_TIMEOUT_SECONDS,
  MAX_TURN_TIMEOUT_SECONDS,
  MIN_TURN_TIMEOUT_SECONDS,
} from './agentWebhook.ts';

const endpointSchema = plainTextSchema(2048).meta({
  description: 'A public https:// URL, to which turns are sent',
  example: 'https://n8n.example.com/webhook/6f1c2a52/agent',
});
const TIMEOUT_RULE = `must be from ${MIN_TURN_TIMEOUT_SECONDS} to ${MAX_TURN_TIMEOUT_SECONDS}`;
const timeoutSchema = z
  .number('must be a number of seconds')
  .min(MIN_TURN_TIMEOUT_SECONDS, TIMEOUT_RULE)
  .max(MAX_TURN_TIMEOUT_SECONDS, TIMEOUT_RULE)
  .describe('How long a turn may take, in seconds. A turn that takes longer has failed.');
const secretSchema = z.string().meta({ example: 'whsec_…' });
const OWNER_EXAMPLE = {
  instance_id: '5d9f1c',
  workflow_id: 'rXz41Hqk',
  workflow_name: 'Support agent',
  node_id: '2b7c9e4a-3f0d-4c1b-9a52-0f6d8e1c7b33',
  host: 'n8n.example.com',
};

const operation = operationsOf({ tag: 'Agent', auth: 'key', extension: true });

export const publishWebhook = operation('PUT /agent/webhook', {
  addsToStore: 'data',
  summary: 'Publish a workflow as the agent',
  description:
    'From now on, the workflow at this address decides for the agent (`use_webhook`): each turn is sent there, signed. While another workflow is published, the call is refused, unless you send `take_over` or an owner of the workspace has let another workflow take over. Publishing the same again changes only the revision, unless you send `turn_on`, and turns that are under way go on.',
  body: z
    .strictObject({
      endpoint: endpointSchema,
      timeout: timeoutSchema.default(DEFAULT_TURN_TIMEOUT_SECONDS),
      owner: ownerSchema,
      take_over: booleanSchema
        .default(false)
        .describe('Takes the place of another workflow even while that one is published'),
      turn_on: booleanSchema
        .default(false)
        .describe(
          'Switches the agent on, and `use_webhook` too, so that customers get the answers of the workflow',
        ),
      keep_settings: booleanSchema
        .default(false)
        .describe(
          'Leaves `use_webhook` as it is if a workflow was published here before, and `released` too. n8n sends this when it starts again',
        ),
      secret_hash: secretHashSchema.describe(
        'SHA-256 of the signing secret that the publisher holds. Without it, or when it is not that of the current secret, the answer shows a new secret.',
      ),
    })
    .meta({
      example: {
        endpoint: 'https://n8n.example.com/webhook/6f1c2a52/agent',
        timeout: 60,
        owner: OWNER_EXAMPLE,
        turn_on: true,
      },
    }),
  answer: z
    .strictObject({
      endpoint: z.string(),
      timeout: z.number(),
      revision: z.number().describe('Counts how often a workflow was published as the agent'),
      owner: ownerSchema,
      secret: secretSchema
        .nullable()
        .describe(
          'A new signing secret. It is shown only here. Null when the publisher has it already.',
        ),
      agent_enabled: z.boolean().describe('Whether the agent is on'),
      notice: z.string().nullable().meta({
        description: 'What keeps the workflow from answering customers; null when nothing does',
        example: null,
      }),
    })
    .meta({ id: 'PublishedAgent' }),
  errors: ['published_elsewhere', ...ADDRESS_ERRORS],
  noIdempotencyKey: true,
});

export const unpublishWebhook = operation('DELETE /agent/webhook', {
  summary: 'Unpublish the workflow that is the agent',
  description:
    '`use_webhook` stays as it is. While it is on, nothing else answers in place of the workflow: what customers write waits for 60 seconds for the workflow to be published again, then the conversation is handed over to a person. Nothing happens when another workflow is published, or when it was published again since the given revision.',
  query: z.object({
    ...ownerIdentityFields,
    revision: revisionSchema.describe(
      'The publication to take back; the newest when it is left out',
    ),
    endpoint: z.string().optional().describe('Unpublishes only while turns go to this address'),
  }),
  answer: z.strictObject({ removed: z.boolean() }),
});

export const listenForTest = operation('PUT /agent/test-webhook', {
  addsToStore: 'data',
  summary: 'Listen for a test event',
  description:
    'Until it is deleted or has expired, turns of “Try it” on the Agent screen go to this address, and nowhere else. Turns of customers never do.',
  body: z.strictObject({ endpoint: endpointSchema, owner: ownerSchema }).meta({
    example: {
      endpoint: 'https://n8n.example.com/webhook-test/6f1c2a52/agent',
      owner: OWNER_EXAMPLE,
    },
  }),
  answer: z
    .strictObject({
      secret: secretSchema.describe('Signs the turns that are sent there. It is shown only here.'),
      expires_at: timestampSchema,
    })
    .meta({ id: 'AgentTestWebhook' }),
  errors: [...ADDRESS_ERRORS],
  noIdempotencyKey: true,
});

export const stopListening = operation('DELETE /agent/test-webhook', {
  summary: 'Stop listening for a test event',
  description: 'Nothing happens when another editor is listening.',
  query: z.object({
    ...ownerIdentityFields,
    endpoint: z.string().optional().describe('Stops only the listening at this address'),
  }),
  answer: z.strictObject({ removed: z.boolean() }),
});
