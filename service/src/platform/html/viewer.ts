import type { Response } from 'express';

/** The member who views a page, with what every page needs for them. */
export interface Viewer {
  /** Part of every form, so that no other site can post one in the member's name. */
  readonly csrfToken: string;
  readonly workspace: { readonly name: string };
  readonly member: { readonly id: string; readonly name: string };
  /** How new the page is, as a position in the feed of changes. */
  readonly livePosition?: string;
  readonly counts?: NavigationCounts;
}

/** The counts in the navigation, as it shows them: `7`, `99+`, or an empty text for none. */
export interface NavigationCounts {
  /** Customers who wait for an answer. */
  readonly conversations: string;
  /** What waits for a decision. */
  readonly decisions: string;
}

/** The member who requests a page; null as long as nobody is known to be signed in. */
export const viewerOf = ({ locals }: Response): Viewer | null =>
  (locals.signedIn as Viewer | undefined) ?? null;
