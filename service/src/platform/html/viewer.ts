/** The member who looks at a page, as far as every page shows them. */
export interface Viewer {
  /** Stands in every form, so that no other site can post one. */
  readonly csrfToken: string;
  readonly workspace: { readonly name: string };
  readonly member: { readonly name: string };
}
