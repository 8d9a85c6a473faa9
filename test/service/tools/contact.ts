/** A contact whose details are masked in results of tools. */
export const contact = {
  id: 'ctc',
  workspaceId: 'w',
  channel: 'web_chat',
  name: null,
  phone: '5491155551234',
  email: 'maria@example.com',
  verified: false,
  createdAt: '',
} as const;
