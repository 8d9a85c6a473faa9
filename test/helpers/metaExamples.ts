// Messages and statuses as Meta's reference of the `messages` webhook shows them, with its example
// values in the place of its placeholders. Each is one of `value.messages`, without the fields that
// all of them have.

/** Kind by kind: what is sent, and what a team reads. */
export const MESSAGE_EXAMPLES: readonly {
  readonly name: string;
  readonly message: Record<string, unknown>;
  readonly text: string;
}[] = [
  {
    name: 'text',
    message: { type: 'text', text: { body: 'Does it come in another color?' } },
    text: 'Does it come in another color?',
  },
  {
    name: 'text, forwarded and in reply to another',
    message: {
      context: {
        from: '15550783881',
        id: 'wamid.HBgLMTQxMjU1NTA4MjkVAgASGBQzQUNCNjk5RDUwNUZGMUZEM0VBRAA=',
        forwarded: true,
      },
      type: 'text',
      text: { body: 'This one' },
    },
    text: 'This one',
  },
  {
    name: 'text, after a click on an ad',
    message: {
      referral: {
        source_url: 'https://fb.me/3cr4Wqqkv',
        source_type: 'ad',
        headline: 'Chat with us',
      },
      type: 'text',
      text: { body: 'Can I get more info about this?' },
    },
    text: 'Can I get more info about this?',
  },
  {
    name: 'image with a caption',
    message: {
      type: 'image',
      image: {
        caption: 'Taj Mahal',
        mime_type: 'image/jpeg',
        sha256: 'SfInY0gGKTsJlUWbwxC1k+FAD0FZHvzwfpvO0zX0GUI=',
        id: '1003383421387256',
        url: 'https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1',
      },
    },
    text: '[Picture] Taj Mahal',
  },
  {
    name: 'image',
    message: { type: 'image', image: { mime_type: 'image/jpeg', id: '1003383421387256' } },
    text: '[Picture]',
  },
  {
    name: 'video',
    message: {
      type: 'video',
      video: { caption: 'How it rattles', mime_type: 'video/mp4', id: '1908647269898587' },
    },
    text: '[Video] How it rattles',
  },
  {
    name: 'audio',
    message: {
      type: 'audio',
      audio: { mime_type: 'audio/mpeg', id: '1003383421387256', voice: false },
    },
    text: '[Audio]',
  },
  {
    name: 'voice message',
    message: {
      type: 'audio',
      audio: { mime_type: 'audio/ogg; codecs=opus', id: '1003383421387256', voice: true },
    },
    text: '[Voice message]',
  },
  {
    name: 'document',
    message: {
      type: 'document',
      document: {
        caption: 'The bill',
        filename: 'invoice.pdf',
        mime_type: 'application/pdf',
        id: '1003383421387256',
      },
    },
    text: '[Document: invoice.pdf] The bill',
  },
  {
    name: 'document whose name does not say what it is',
    message: {
      type: 'document',
      document: { filename: 'invoice', mime_type: 'application/pdf', id: '1003383421387257' },
    },
    text: '[Document: invoice (PDF)]',
  },
  {
    name: 'document without a name',
    message: {
      type: 'document',
      document: { mime_type: 'application/pdf; charset=binary', id: '1003383421387258' },
    },
    text: '[Document: PDF]',
  },
  {
    name: 'sticker',
    message: {
      type: 'sticker',
      sticker: { mime_type: 'image/webp', id: '1003383421387256', animated: false },
    },
    text: '[Sticker]',
  },
  {
    name: 'location of a place',
    message: {
      type: 'location',
      location: {
        address: '101 Forest Ave, Palo Alto, CA 94301',
        latitude: 37.44217,
        longitude: -122.16119,
        name: 'Philz Coffee',
        url: 'https://philzcoffee.com/',
      },
    },
    text: '[Location: Philz Coffee, 101 Forest Ave, Palo Alto, CA 94301, 37.44217, -122.16119]',
  },
  {
    name: 'location',
    message: { type: 'location', location: { latitude: 0, longitude: -122.16119 } },
    text: '[Location: 0, -122.16119]',
  },
  {
    name: 'contacts',
    message: {
      type: 'contacts',
      contacts: [
        {
          name: {
            formatted_name: 'Barbara J. Johnson',
            first_name: 'Barbara',
            last_name: 'Johnson',
          },
          phones: [{ phone: '+1 (650) 555-1999', type: 'Mobile', wa_id: '16505551999' }],
          emails: [{ email: 'bjohnson@luckyshrub.com', type: 'Work' }],
        },
        { name: { first_name: 'Pablo' } },
      ],
    },
    text: '[Contact: Barbara J. Johnson, +1 (650) 555-1999, bjohnson@luckyshrub.com; Pablo]',
  },
  {
    name: 'quick-reply button',
    message: { type: 'button', button: { payload: 'Unsubscribe', text: 'Stop promotions' } },
    text: 'Stop promotions',
  },
  {
    name: 'reply button',
    message: {
      type: 'interactive',
      interactive: { type: 'button_reply', button_reply: { id: 'cancel-button', title: 'Cancel' } },
    },
    text: 'Cancel',
  },
  {
    name: 'list reply',
    message: {
      type: 'interactive',
      interactive: {
        type: 'list_reply',
        list_reply: {
          id: 'priority_express',
          title: 'Priority Mail Express',
          description: 'Next Day to 2 Days',
        },
      },
    },
    text: 'Priority Mail Express, Next Day to 2 Days',
  },
  {
    name: 'form (flow) reply',
    message: {
      type: 'interactive',
      interactive: {
        type: 'nfm_reply',
        nfm_reply: {
          name: 'flow',
          body: 'Sent',
          response_json: '{"flow_token":"abc","date":"2026-12-01","guests":4}',
        },
      },
    },
    text: '[Form: date: 2026-12-01, guests: 4]',
  },
  {
    name: 'form reply that cannot be read',
    message: {
      type: 'interactive',
      interactive: { type: 'nfm_reply', nfm_reply: { body: 'Sent', response_json: '{"date":' } },
    },
    text: '[Form] Sent',
  },
  {
    name: 'order',
    message: {
      type: 'order',
      order: {
        catalog_id: '194836987003835',
        text: 'Love these!',
        product_items: [
          { product_retailer_id: 'di9ozbzfi4', quantity: 2, item_price: 30, currency: 'USD' },
          { product_retailer_id: 'nqryix03ez', quantity: 1, item_price: 25.5, currency: 'USD' },
        ],
      },
    },
    text: '[Order: 2 × di9ozbzfi4 at 30 USD, 1 × nqryix03ez at 25.5 USD] Love these!',
  },
  {
    name: 'first opening of the chat',
    message: { type: 'request_welcome' },
    text: '[Opened the chat for the first time]',
  },
  {
    name: 'unsupported',
    message: {
      type: 'unsupported',
      unsupported: { type: 'poll_update' },
      errors: [
        {
          code: 131051,
          title: 'Message type unknown',
          message: 'Message type unknown',
          error_data: { details: 'Message type is currently not supported.' },
        },
      ],
    },
    text: '[Message that cannot be shown here (poll_update): Message type is currently not supported.]',
  },
  {
    name: 'unsupported, in the older form',
    message: { type: 'unknown', errors: [{ code: 131051, title: 'Unsupported message type' }] },
    text: '[Message that cannot be shown here: Unsupported message type]',
  },
  {
    name: 'a kind that Meta may add later',
    message: { type: 'hologram', hologram: { caption: 'Look!' } },
    text: '[Message that cannot be shown here (hologram)] Look!',
  },
  {
    name: 'a kind named like a property of every object',
    message: { type: 'constructor' },
    text: '[Message that cannot be shown here (constructor)]',
  },
  { name: 'no kind at all', message: {}, text: '[Message that cannot be shown here]' },
  {
    name: 'text of another shape',
    message: { type: 'text', text: 'loose' },
    text: '[Message that cannot be shown here (text)]',
  },
  {
    name: 'message of a group',
    message: { group_id: 'Y2FwaV9ncm91cDo', type: 'text', text: { body: 'Hi all' } },
    text: '[In a group] Hi all',
  },
  {
    name: 'edited message',
    message: {
      type: 'edit',
      edit: {
        original_message_id: 'wamid.A',
        message: { type: 'text', text: { body: 'At five, not four' } },
      },
    },
    text: '[Changed an earlier message] At five, not four',
  },
];

/** A status that failed, as documented. */
export const FAILED_STATUS = {
  status: 'failed',
  errors: [
    {
      code: 131047,
      title: 'Re-engagement message',
      message: 'Re-engagement message',
      error_data: {
        details:
          'Message failed to send because more than 24 hours have passed since the customer last replied to this number.',
      },
      href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
    },
  ],
};

/** The customer has a new number: there is no `contacts` beside it. */
export const numberChanged = (from: string, to: string, id: string) => ({
  from,
  id,
  timestamp: '1739321024',
  type: 'system',
  system: {
    body: `User Sheena Nelson changed from ${from} to ${to}`,
    wa_id: to,
    type: 'user_changed_number',
  },
});
