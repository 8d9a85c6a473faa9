import type { Response } from 'express';

/** The member who looks at a page, as far as every page shows them. */
export interface Viewer {
  /** Stands in every form, so that no other site can post one. */
  readonly csrfToken: string;
  readonly workspace: { readonly name: string };
  readonly member: { readonly id: string; readonly name: string };
  /** How new the page is, as a position in the feed of changes. */
  readonly livePosition?: string;
  readonly counts?: NavigationCounts;
}

/** What the navigation counts, in words; empty for none. */
export interface NavigationCounts {
  /** Customers who wait for an answer. */
  readonly conversations: string;
  /** What waits for a decision. */
  readonly decisions: string;
}

/** The member for whom a page is made, once a request is known to be theirs. */
export const viewerOf = ({ locals }: Response): Viewer | null =>
  (locals.signedIn as Viewer | undefined) ?? null;
