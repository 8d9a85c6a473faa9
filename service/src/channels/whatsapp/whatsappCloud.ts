import type { ConnectedChannel } from '../channelAdapter.ts';
import { MAX_LIST_BUTTON_CHARACTERS, takesChoices } from './choices.ts';
import { sendText, showTyping, testConnection } from './graphApi.ts';
import { parseBody } from './inbound.ts';
import { verifyRequest } from './verifyRequest.ts';

const HOUR_MS = 60 * 60 * 1000;
/** WhatsApp shows the typing indicator for 25 seconds. */
const TYPING_EVERY_MS = 20_000;
/** The documented limit of `text.body`. */
const MAX_TEXT_CHARACTERS = 4096;

/**
 * Refuses what a word processor or a shortened display puts into a copied secret: curly quotation
 * marks, an ellipsis. A header cannot carry them, so no call with such a token would reach Meta.
 */
const PLAIN_CHARACTERS = {
  pattern: /^[!-~]+$/,
  hint: 'must have only plain letters, digits and symbols, no spaces, “ ” or …: copy the whole value again',
};

/**
 * WhatsApp Business Platform, Cloud API: Meta's webhook in, the Graph API out.
 * @see developers.facebook.com, "Webhooks" and "Messages" of the Cloud API
 */
export const whatsappCloud: ConnectedChannel = {
  type: 'whatsapp_cloud',
  label: 'WhatsApp',
  isHosted: false,
  capabilities: {
    textMax: MAX_TEXT_CHARACTERS,
    windowMs: 24 * HOUR_MS,
    takesChoices,
    typingEveryMs: TYPING_EVERY_MS,
  },
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
      help: 'Use a token of a system user with whatsapp_business_messaging: it does not expire.',
      kind: 'secret',
      isRequired: true,
      ...PLAIN_CHARACTERS,
      max: 4096,
    },
    {
      name: 'app_secret',
      label: 'App secret',
      help: 'In the Meta app under App settings, Basic. It verifies requests from Meta.',
      kind: 'secret',
      isRequired: true,
      ...PLAIN_CHARACTERS,
      max: 256,
    },
    {
      name: 'verify_token',
      label: 'Verify token',
      help: 'You enter it in the Meta app with the webhook URL. Leave it empty to create one.',
      kind: 'generated',
      isRequired: false,
      max: 256,
    },
    {
      name: 'list_button',
      label: 'Text of the list button',
      help: 'The button opens a list of more than three choices. Use your customers’ language. Empty: “Choose”.',
      kind: 'text',
      isRequired: false,
      max: MAX_LIST_BUTTON_CHARACTERS,
    },
  ],
  setupSteps: [
    'Open your app on developers.facebook.com and go to WhatsApp, Configuration.',
    'Under Webhook, press Edit. Paste the webhook URL from above as “Callback URL” and the verify token as “Verify token”, then press “Verify and save”. Meta checks the address at once.',
    'Under Webhook fields, press Manage and subscribe to “messages”. It delivers both messages and receipts.',
    'Publish the app (App Mode: Live). Until then, Meta delivers only test messages.',
    'Check that the app is subscribed to your WhatsApp Business Account. An account that was set up in this app is subscribed already. For any other, call POST /<WhatsApp Business Account ID>/subscribed_apps of the Graph API with the access token.',
    'Press “Test connection” here. Then write to the number from a phone: the message appears under Conversations.',
  ],
  accountOf: ({ phone_number_id: id }) => id ?? '',
  verify: verifyRequest,
  parse: parseBody,
  send: sendText,
  showTyping,
  test: testConnection,
};
