import { timestamp } from '../clock.ts';
import { normalizeEmail } from '../contact.ts';
import type { Deps } from '../deps.ts';
import { newId } from '../ids.ts';
import type { Member, Workspace } from '../workspace.ts';

/** Adds a person to the team. @throws UniqueViolation when the e-mail is a member's already */
export const createMember = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  { name, email, passwordHash }: Pick<Member, 'name' | 'email' | 'passwordHash'>,
) =>
  store.transaction(async (tx): Promise<Member> => {
    const member = {
      id: newId('mbr'),
      workspaceId: workspace.id,
      name,
      email: normalizeEmail(email),
      passwordHash,
      createdAt: timestamp(clock.now()),
    };
    await tx.members.put(member);
    return member;
  });
