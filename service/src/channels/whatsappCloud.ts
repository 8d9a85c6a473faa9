import type { ConnectedChannel } from './channelAdapter.ts';
import { sendText, testConnection } from './whatsapp/graphApi.ts';
import { parseBody } from './whatsapp/inbound.ts';
import { WHATSAPP_SETUP_STEPS } from './whatsapp/setupSteps.ts';
import { verifyRequest } from './whatsapp/verifyRequest.ts';

const HOUR_MS = 60 * 60 * 1000;
/** Of `text.body`, as documented. */
const MAX_TEXT_CHARACTERS = 4096;

/**
 * WhatsApp Business Platform, Cloud API: Meta's webhook in, the Graph API out.
 * @see developers.facebook.com, "Webhooks" and "Messages" of the Cloud API
 */
export const whatsappCloud: ConnectedChannel = {
  type: 'whatsapp_cloud',
  label: 'WhatsApp',
  isHosted: false,
  capabilities: { isSent: true, textMax: MAX_TEXT_CHARACTERS, windowMs: 24 * HOUR_MS },
  fields: [
    {
      name: 'phone_number_id',
      label: 'Phone number ID',
      help: 'In the Meta app under WhatsApp, API Setup. It is not the phone number.',
      kind: 'text',
      isRequired: true,
      pattern: /^\d{5,25}$/,
      hint: 'must be the digits of the phone number ID, such as 106540352242922',
      max: 25,
    },
    {
      name: 'access_token',
      label: 'Access token',
      help: 'Of a system user with whatsapp_business_messaging, so that it does not expire.',
      kind: 'secret',
      isRequired: true,
      max: 4096,
    },
    {
      name: 'app_secret',
      label: 'App secret',
      help: 'In the Meta app under App settings, Basic. It verifies what Meta sends.',
      kind: 'secret',
      isRequired: true,
      max: 256,
    },
    {
      name: 'verify_token',
      label: 'Verify token',
      help: 'Typed into the Meta app beside the webhook URL. Left empty, one is made.',
      kind: 'generated',
      isRequired: false,
      max: 256,
    },
  ],
  setupSteps: WHATSAPP_SETUP_STEPS,
  accountOf: ({ phone_number_id: id }) => id ?? '',
  verify: verifyRequest,
  parse: parseBody,
  send: sendText,
  test: testConnection,
};
