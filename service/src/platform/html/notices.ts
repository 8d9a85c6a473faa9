import { html, type View } from './html.ts';

/**
 * What was just done, shown once on the next page. Its address carries a code from this list, so
 * that no link can put a text of its own on a page.
 */
const NOTICES: Readonly<Record<string, string>> = {
  saved: 'Saved.',
  removed: 'Removed.',

  'contact-saved': 'Contact saved.',
  'forget-not-confirmed': 'Nothing was removed. To forget the contact, tick the box first.',
  'forget-not-allowed': 'Nothing was removed. Only an owner can forget a contact.',

  retried: 'The message is being sent again. Its state is below it.',
  'retry-window':
    'Not sent: the messaging window is closed. Retry after the customer writes again.',
  'retry-channel':
    'Not sent: the account is no longer connected. Connect it again under Channels, then retry.',

  'test-message': 'This is your test message, as if a customer had written it. Reply to it here.',
  'first-steps-dismissed': 'The first steps are dismissed.',

  closed: 'Conversation closed.',
  'already-closed': 'This conversation was already closed. Nothing was changed.',
  approved: 'Approved.',
  rejected: 'Rejected.',
  'already-decided':
    'This tool call was already decided or has expired. Your decision was not used. See the card for details.',
  'wait-ended':
    'This was already decided or has ended. Your decision was not used. See the card for who decided.',
  'decision-refused':
    'Not decided. Press one of the two buttons, with a note of up to 1,000 characters.',

  'key-revoked': 'API key revoked. It no longer works.',
  'key-made-before':
    'This form created this key before. A key is shown only once: if you did not copy it, revoke it and create another.',
  unsubscribed: 'Subscription removed. It gets no more events.',
  released: 'Another workflow can now take over by publishing.',
  'secrets-revoked': 'Previous secrets revoked. Deliveries are signed with the newest secret only.',
  'test-event': 'Test event sent. Its delivery appears below.',
  resent: 'The delivery is being sent again. You can follow it under all deliveries.',

  'tool-created': 'Tool created. Run a test call before you go live.',
  'tool-draft':
    'Saved. The tool is a draft again because its definition changed. Run a test call before you go live.',
  'tool-live': 'The tool is live.',
  'tool-paused': 'Tool paused. The agent no longer calls it.',
  'tool-removed': 'Tool removed.',

  'agent-on': 'The agent is on and answers new messages from customers.',
  'agent-off': 'The agent is off. Only workflows and your team answer customers.',

  'channel-connected':
    'Account connected. Test the connection, then follow the steps below to receive messages.',
  'channel-tested': 'The connection works.',
  'channel-test-failed': 'The connection test failed. See the reason below.',
  'channel-disconnected': 'Account disconnected.',

  'payment-created': 'Payment link created. Copy it, or send it to the customer.',
  'payment-sent': 'Payment link sent to the customer.',
  'payment-preparing':
    'The payment link is being created and has not been sent yet. Send it from its card once it is open.',
  'payment-refused':
    'The provider refused to create the payment link. Nothing was sent. See the card for the reason.',
  'payment-not-sent-window':
    'Payment link created but not sent: the messaging window is closed. Send the link after the customer writes again.',
  'payment-not-sent-channel':
    'Payment link created but not sent: the account is no longer connected. Connect it again under Channels, then send the link.',
  'payment-not-sent-closed': 'The payment link was not sent because the conversation is closed.',
  'payment-cancelled': 'Payment link cancelled.',
  'payment-marked': 'Marked as paid.',
  'payment-already-ended':
    'This payment link was already paid or has ended. Nothing was changed. See the link for details.',
  'payment-reference-too-long': 'Not marked as paid. Use a reference of at most 200 characters.',
  'provider-removed': 'Payment provider removed.',
  'provider-test-passed': 'The keys work.',
  'provider-test-failed': 'The test failed. See the reason below.',

  'password-changed': 'Password changed. You are signed out everywhere else.',
  'role-changed': 'Role changed. It applies to the next page they open.',
  'password-reset': 'Password changed. Sign in with the new one.',
  left: 'You have left the team.',
  'session-ended': 'Your session has ended. Sign in to continue. What you have written is kept.',
  'signed-out': 'You are signed out.',
  'signed-out-everywhere': 'You are signed out everywhere.',
};

/** Notices that something did not work. They stay until they are dismissed. */
const TONES: Readonly<Record<string, 'warning' | 'danger'>> = {
  'forget-not-confirmed': 'warning',
  'forget-not-allowed': 'danger',
  'retry-window': 'warning',
  'retry-channel': 'warning',
  'already-closed': 'warning',
  'already-decided': 'warning',
  'wait-ended': 'warning',
  'decision-refused': 'danger',
  'channel-test-failed': 'danger',
  'payment-refused': 'danger',
  'payment-not-sent-window': 'warning',
  'payment-not-sent-channel': 'warning',
  'payment-not-sent-closed': 'warning',
  'payment-already-ended': 'warning',
  'payment-reference-too-long': 'danger',
  'provider-test-failed': 'danger',
};

/**
 * The container of the notices, with the notice whose code is in the page's address, if any. It
 * lies above the page, so that nothing moves.
 */
export const noticeView = (code: unknown): View => html`
  <div id="toasts" class="toasts" role="status">
    ${typeof code === 'string' && Object.hasOwn(NOTICES, code) ? toast(NOTICES[code]!, TONES[code] ?? 'success') : null}
  </div>
`;

const toast = (text: string, tone: string): View => html`
  <div class=${`toast toast-${tone}`} data-notice>
    <p>${text}</p>
    <a class="dismiss" href="?" aria-label="Dismiss"></a>
  </div>
`;
