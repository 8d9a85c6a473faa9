import type { Channel } from '../channel.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Contact } from '../../conversations/index.ts';
import { newId } from '../../platform/ids.ts';
import type { InboundSender } from '../inbound.ts';

/**
 * Finds and locks the contact of a sender, by the channel's user id or else by the phone number. If
 * these belong to two contacts, the one with the user id is the sender, and the other one keeps the
 * number.
 * @param sentAt by the channel's clock. What was sent before the newest message or change of number
 * replaces no details.
 * @returns the contact with the sender's new details, which are not stored yet; null for a new
 * sender. If two processes find the same new sender at once, a unique index lets only one of them
 * store the contact.
 */
export async function recogniseContact(
  tx: Tx,
  channel: Channel,
  sender: InboundSender,
  sentAt: Date | null,
): Promise<Contact | null> {
  const { phone, userId, name } = sender;
  for (;;) {
    const byUserId =
      userId === null ? null : await findContact(tx, channel, { channelUserId: userId });
    const byPhone = phone === null ? null : await findContact(tx, channel, { phone });
    const found = byUserId ?? byPhone;
    if (!found) return null;
    const locked = await tx.contacts.get(found.id);
    // Before it was locked, the contact may have been removed or its number changed. Look again.
    if (locked === null || !haveSameIdentity(locked, found)) continue;
    const isLate = isBefore(sentAt, locked.lastWroteAt) || isBefore(sentAt, locked.renumberedAt);
    const newer = (known: string | null, told: string | null) =>
      isLate ? (known ?? told) : (told ?? known);
    return {
      ...locked,
      phone: byPhone === null ? newer(locked.phone, phone) : locked.phone,
      channelUserId: newer(locked.channelUserId ?? null, userId),
      name: locked.isNamedByTeam ? locked.name : newer(locked.name, name),
    };
  }
}

const isBefore = (sentAt: Date | null, at: string | null | undefined): boolean =>
  sentAt !== null && typeof at === 'string' && timestamp(sentAt) < at;

const haveSameIdentity = (a: Contact, b: Contact): boolean =>
  a.phone === b.phone && (a.channelUserId ?? null) === (b.channelUserId ?? null);

/** A contact for a new sender. It is verified, since the channel knows who they are. */
export const newContact = (
  { workspaceId, type, account }: Channel,
  { phone, userId, name }: InboundSender,
  now: Date,
): Contact => ({
  id: newId('ctc'),
  workspaceId,
  channel: type,
  channelAccount: account,
  channelUserId: userId,
  lastWroteAt: null,
  name,
  phone,
  email: null,
  verified: true,
  createdAt: timestamp(now),
});

/**
 * Gives a contact a new phone number or user id, unless another contact has the same one. Does
 * nothing if a later change is stored.
 * @param at when the number or id changed, by the channel's clock
 */
export async function renumberContact(
  tx: Tx,
  channel: Channel,
  contact: Contact,
  { phone, userId }: Pick<InboundSender, 'phone' | 'userId'>,
  at: Date,
): Promise<Contact> {
  if (isBefore(at, contact.renumberedAt)) return contact;
  const isFree = async (by: { phone: string } | { channelUserId: string }) => {
    const holder = await findContact(tx, channel, by);
    return holder === null || holder.id === contact.id;
  };
  return {
    ...contact,
    renumberedAt: timestamp(at),
    ...(phone !== null && (await isFree({ phone })) && { phone }),
    ...(userId !== null && (await isFree({ channelUserId: userId })) && { channelUserId: userId }),
  };
}

/** Stores a contact if it has changed. */
export async function putIfChanged(tx: Tx, contact: Contact): Promise<void> {
  const before = await tx.contacts.get(contact.id);
  const hasChanged =
    before === null ||
    (Object.keys(contact) as (keyof Contact)[]).some(
      (field) => (contact[field] ?? null) !== (before[field] ?? null),
    );
  if (hasChanged) await tx.contacts.put(contact);
}

async function findContact(
  tx: Tx,
  { workspaceId, type, account }: Channel,
  by: { phone: string } | { channelUserId: string },
): Promise<Contact | null> {
  const [contact] = await tx.contacts.find({
    where: { workspaceId, channel: type, channelAccount: account, ...by },
    limit: 1,
  });
  return contact ?? null;
}
