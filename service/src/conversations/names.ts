import type { Actor } from '../platform/actor.ts';
import { visitorName } from '../platform/visitorName.ts';
import { isForgotten, type Contact } from './contact.ts';

/** How the team sees a customer: unmasked. */
export function customerName(contact: Contact): string {
  if (isForgotten(contact)) return 'Forgotten contact';
  const phone = contact.phone === null ? null : `+${contact.phone}`;
  return contact.name ?? phone ?? contact.email ?? visitorName(contact);
}

export const actorName = ({ type, name }: Actor): string =>
  type === 'api' ? `${name} (API)` : name;
