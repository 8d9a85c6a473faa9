import type { Actor } from '../platform/actor.ts';
import { contactDisplay } from '../platform/masking.ts';
import { isForgotten, type Contact } from './contact.ts';

/** How the team sees a customer: unmasked. */
export const customerName = (contact: Contact): string =>
  (isForgotten(contact) ? 'Forgotten contact' : null) ??
  contact.name ??
  (contact.phone === null ? null : `+${contact.phone}`) ??
  contact.email ??
  contactDisplay(contact);

export const actorName = ({ type, name }: Actor): string =>
  type === 'api' ? `${name} (API)` : name;
