import { connectedChannel } from './registry.ts';
import { channelWebhookUrl, type Channel } from './channel.ts';
import type { SetupValues } from '../platform/accounts/accountSetup.ts';

/** @param shown the generated secrets, which may be shown in the clear */
export const channelJson = (channel: Channel, shown: SetupValues, publicUrl: string) => ({
  id: channel.id,
  type: channel.type,
  name: channel.name,
  settings: { ...channel.settings, ...shown },
  secrets_set: connectedChannel(channel.type)
    .fields.filter(({ kind, name }) => kind === 'secret' && name in channel.sealedSecrets)
    .map(({ name }) => name),
  webhook_url: channelWebhookUrl(publicUrl, channel),
  last_test: channel.lastTest,
  last_inbound_at: channel.lastInboundAt,
  created_at: channel.createdAt,
  updated_at: channel.updatedAt,
});
