import { compareText } from '../../platform/compareText.ts';
import type { From } from '../../platform/http/page.ts';
import { formsOfPhone } from '../../platform/phoneNumber.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../../team/index.ts';
import { CHANNEL_TYPES, WEB_CHAT, type ChannelType, type Contact } from '../contact.ts';

/** A whole phone number or e-mail, in a stored form: see normalizePhone, normalizeEmail. */
export type ContactDetail = { readonly phone: string } | { readonly email: string };

/** Each channel but the web chat verifies who writes. */
const VERIFYING_FIRST: readonly ChannelType[] = [
  ...CHANNEL_TYPES.filter((channel) => channel !== WEB_CHAT),
  WEB_CHAT,
];

/**
 * Finds the contacts with a phone number, in any of its forms, or with an e-mail: those that their
 * channel verified first, then the newest. So however many visitors of the web chat claim a number,
 * they never hide the customer who has it.
 * @param after a position in this order, from `placeOf`
 */
export async function findByDetail(
  tx: Tx,
  workspace: Workspace,
  detail: ContactDetail,
  { limit, after }: { limit: number } & From,
): Promise<readonly Contact[]> {
  const found: Contact[] = [];
  const first = after === undefined ? 0 : VERIFYING_FIRST.indexOf(after.value as ChannelType);
  for (const channel of VERIFYING_FIRST.slice(first)) {
    const start = channel === after?.value ? { after: { value: after.id! } } : {};
    const page = { limit: limit - found.length, ...start };
    if (page.limit > 0) found.push(...(await findInChannel(tx, workspace, channel, detail, page)));
  }
  return found;
}

async function findInChannel(
  tx: Tx,
  { id: workspaceId }: Workspace,
  channel: ChannelType,
  detail: ContactDetail,
  page: { limit: number } & From,
): Promise<readonly Contact[]> {
  const forms =
    'phone' in detail ? formsOfPhone(detail.phone).map((phone) => ({ phone })) : [detail];
  const lists = await Promise.all(
    forms.map((form) =>
      tx.contacts.find({ where: { workspaceId, channel, ...form }, direction: 'desc', ...page }),
    ),
  );
  const newestFirst = lists.flat().toSorted((a, b) => compareText(b.id, a.id));
  return newestFirst.slice(0, page.limit);
}

export const placeOf = ({ channel, id }: Pick<Contact, 'channel' | 'id'>) => ({
  value: channel,
  id,
});
