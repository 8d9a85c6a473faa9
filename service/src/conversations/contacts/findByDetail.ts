import type { From } from '../../platform/http/page.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../../team/index.ts';
import { CHANNEL_TYPES, WEB_CHAT, type ChannelType, type Contact } from '../contact.ts';

/** A whole phone number or e-mail, in the stored spelling: see normalizePhone, normalizeEmail. */
export type ContactDetail = { readonly phone: string } | { readonly email: string };

/** Each channel but the web chat verifies who writes. */
const VERIFYING_FIRST: readonly ChannelType[] = [
  ...CHANNEL_TYPES.filter((channel) => channel !== WEB_CHAT),
  WEB_CHAT,
];

/**
 * Finds the contacts with a phone number or e-mail: those that their channel verified first, then
 * the newest. So however many visitors of the web chat claim a number, they never hide the customer
 * who has it.
 * @param after a position in this order, from `placeOf`
 */
export async function findByDetail(
  tx: Tx,
  { id: workspaceId }: Workspace,
  detail: ContactDetail,
  { limit, after }: { limit: number } & From,
): Promise<readonly Contact[]> {
  const found: Contact[] = [];
  const first = after === undefined ? 0 : VERIFYING_FIRST.indexOf(after.value as ChannelType);
  for (const channel of VERIFYING_FIRST.slice(first)) {
    const query = {
      where: { workspaceId, channel, ...detail },
      direction: 'desc',
      limit: limit - found.length,
    } as const;
    const start = channel === after?.value ? { after: { value: after.id! } } : {};
    if (query.limit > 0) found.push(...(await tx.contacts.find({ ...query, ...start })));
  }
  return found;
}

export const placeOf = ({ channel, id }: Pick<Contact, 'channel' | 'id'>) => ({
  value: channel,
  id,
});
