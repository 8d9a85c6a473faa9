import type { Channel } from '../channel.ts';
import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import type { Contact } from '../contact.ts';
import { newId } from '../ids.ts';
import type { InboundSender } from '../inbound.ts';

/**
 * The contact of an account that a channel tells of, locked, with all that is known of them now;
 * nothing is stored yet. By the channel's own id of the person first, else by phone number; each
 * completes the other. When they name two contacts, the one with the id it is, and the number stays
 * where it was.
 * @returns null when it is somebody new; when two processes find that at once, the unique indexes
 * let one through
 */
export async function recogniseContact(
  tx: Tx,
  channel: Channel,
  sender: InboundSender,
): Promise<Contact | null> {
  const { phone, userId, name } = sender;
  for (;;) {
    const byUserId =
      userId === null ? null : await findContact(tx, channel, { channelUserId: userId });
    const byPhone = phone === null ? null : await findContact(tx, channel, { phone });
    const found = byUserId ?? byPhone;
    if (!found) return null;
    const locked = await tx.contacts.get(found.id);
    // renumbered or removed before it was locked: look again
    if (locked === null || !isKnownAlike(locked, found)) continue;
    return {
      ...locked,
      phone: byPhone === null ? (phone ?? locked.phone) : locked.phone,
      channelUserId: userId ?? locked.channelUserId ?? null,
      name: name ?? locked.name,
    };
  }
}

const isKnownAlike = (a: Contact, b: Contact): boolean =>
  a.phone === b.phone && (a.channelUserId ?? null) === (b.channelUserId ?? null);

/** Somebody who writes for the first time. The channel vouches for who they are. */
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
 * The contact under a new phone number or user id. What another contact has already stays with that
 * one.
 */
export async function renumberContact(
  tx: Tx,
  channel: Channel,
  contact: Contact,
  { phone, userId }: Pick<InboundSender, 'phone' | 'userId'>,
): Promise<Contact> {
  const isPhoneFree = phone !== null && (await findContact(tx, channel, { phone })) === null;
  const isUserIdFree =
    userId !== null && (await findContact(tx, channel, { channelUserId: userId })) === null;
  return {
    ...contact,
    phone: isPhoneFree ? phone : contact.phone,
    channelUserId: isUserIdFree ? userId : (contact.channelUserId ?? null),
  };
}

/** Stores a contact if anything of it has changed. */
export async function keepContact(tx: Tx, contact: Contact): Promise<void> {
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
