import { html, type View } from '../platform/html/html.ts';
import type { SignedIn } from './operations/sessions.ts';
import { isOwner } from './workspace.ts';

/** Tells a member what an owner can do here, in place of the buttons for it. Nothing for owners. */
export const memberNote = ({ member }: SignedIn, words: string): View =>
  isOwner(member) ? null : html`<p class="muted">${words}</p>`;
