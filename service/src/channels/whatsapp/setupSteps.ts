/**
 * What a team does in Meta's app dashboard so that messages arrive here. @see
 * developers.facebook.com, "Set up webhooks" of the Cloud API
 */
export const WHATSAPP_SETUP_STEPS: readonly string[] = [
  'Open your app on developers.facebook.com and go to WhatsApp, Configuration.',
  'Under Webhook, press Edit. Paste the webhook URL from above as “Callback URL” and the verify token as “Verify token”, then press “Verify and save”. Meta calls this service at once to check them.',
  'Under Webhook fields, press Manage and subscribe to “messages”. Messages and receipts both come by it.',
  'Publish the app (App Mode: Live). Until then Meta delivers test messages only.',
  'Make sure that the app is subscribed to your WhatsApp Business Account. An account that was set up in this app is; for another one, call POST /<WhatsApp Business Account ID>/subscribed_apps of the Graph API with the access token.',
  'Press “Test connection” here. Then write to the number from a phone: the message appears under Conversations.',
];
