import type { SignedIn } from '../../team/index.ts';

/** Whether a member may forget contacts, which cannot be undone: owners, where members have roles. */
export function mayForget({ member }: Pick<SignedIn, 'member'>): boolean {
  const { role } = member as { readonly role?: string };
  return role === undefined || role === 'owner';
}
