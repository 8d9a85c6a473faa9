import type { Request, Response } from 'express';
import type { SignedIn } from '../team/index.ts';
import type { ContactPanel } from './readContactPanel.ts';
import type { Thread } from './readThread.ts';
import type { PaymentPageUrl, PaymentProvider } from '../payments/index.ts';
import type { FormState } from '../platform/html/forms.ts';
import { beforeOf, placeOf, threadHref } from './links.ts';
import type { InboxPlace } from './listInbox.ts';

/** The form that creates a payment link. */
export interface PaymentForm extends FormState {
  /** The providers that are set up, the preferred one first. */
  readonly providers: readonly PaymentProvider[];
}

/** What every view on a conversation's page needs. */
export interface SharedParts {
  readonly signedIn: SignedIn;
  readonly place: InboxPlace;
  /** The message before which the page of the thread ends; null for the newest page. */
  readonly before: number | null;
  readonly now: Date;
  readonly paymentPageUrl: PaymentPageUrl;
}

/** What the views of the thread, and of what is around it, need. */
export interface ThreadParts extends SharedParts {
  readonly thread: Thread;
}

/** What the views of the panel about the customer need. */
export interface PanelParts extends SharedParts {
  readonly panel: ContactPanel;
}

/** What is below the messages: an empty reply form, unless one of these is given. */
export interface OpenForm {
  readonly isClosing?: boolean;
  /** The note is open instead of the reply. */
  readonly isNoting?: boolean;
  /** The payment form, with what was refused in it. */
  readonly paying?: PaymentForm;
  /** What was refused in the reply, the note or the close. */
  readonly form?: FormState;
}

/** Shows a conversation with a form. */
export type ShowThread = (
  request: Request<{ id: string }>,
  response: Response,
  open?: OpenForm,
) => Promise<void>;

/** Redirects to the same page of the conversation after an action. */
export const goBack = (
  request: Request<{ id: string }>,
  response: Response,
  notice?: string,
  anchor = '',
): void => {
  const shown = { before: beforeOf(request), notice };
  response.redirect(303, threadHref(request.params.id, placeOf(request), shown) + anchor);
};
