/** The n8n workflow that published something here, and where that n8n runs. */
export interface Owner {
  readonly instanceId: string;
  readonly workflowId: string;
  readonly workflowName: string;
  readonly nodeId: string;
  /**
   * The host of the n8n's webhook addresses. A clone of an instance has its id, but another host.
   */
  readonly host: string;
}

/** What tells owners apart. Without the workflow's name, which can change. */
export type OwnerIdentity = Omit<Owner, 'workflowName'>;

/** Whether both run in the same n8n. */
export const isSameInstance = (a: OwnerIdentity, b: OwnerIdentity): boolean =>
  a.instanceId === b.instanceId && a.host === b.host;

/** Whether an owner has these fields. A field that is left out fits every owner. */
export const matchesOwner = (owner: Owner, fields: Partial<OwnerIdentity>): boolean =>
  Object.entries(fields).every(
    ([field, value]) => value === undefined || owner[field as keyof OwnerIdentity] === value,
  );

export const isSameOwner = (a: OwnerIdentity, b: OwnerIdentity): boolean =>
  isSameInstance(a, b) && a.workflowId === b.workflowId && a.nodeId === b.nodeId;

/** Which publication an owner takes back. */
export interface Unpublishing {
  readonly owner: OwnerIdentity;
  /** The publication to take back; undefined: the newest. */
  readonly revision: number | undefined;
  /** Takes it back only while its calls go to this address; undefined: wherever they go. */
  readonly endpoint: string | undefined;
}

/** Whether a publication is the one to take back. */
export const isToUnpublish = (
  published: { readonly owner: Owner; readonly revision: number; readonly endpoint: string | null },
  { owner, revision, endpoint }: Unpublishing,
): boolean =>
  isSameOwner(published.owner, owner) &&
  (revision === undefined || revision === published.revision) &&
  (endpoint === undefined || endpoint === published.endpoint);

/** For messages and screens: `the workflow "Orders" of the n8n at n8n.example.com`. */
export const ownerInWords = ({ workflowName, host }: Owner): string =>
  `the workflow ${JSON.stringify(workflowName)} of the n8n at ${host}`;
