import { collection } from '../store/store.ts';
import type { ApiKey } from './apiKey.ts';
import type { CannedReply } from './cannedReplies/cannedReply.ts';
import type { Workspace, Member, Session, Invite } from './workspace.ts';

declare module '../store/collections.ts' {
  interface Collections {
    workspaces: Workspace;
    members: Member;
    sessions: Session;
    invites: Invite;
    apiKeys: ApiKey;
    cannedReplies: CannedReply;
  }
}

export const teamCollections = {
  workspaces: collection<Workspace>({ indexes: [{ on: [] }, { on: ['slug'], unique: true }] }),
  members: collection<Member>({
    indexes: [{ on: ['workspaceId'] }, { on: ['email'], unique: true }],
  }),
  sessions: collection<Session>({
    indexes: [{ on: ['memberId'] }, { on: ['kind'], orderBy: 'expiresAt' }],
  }),
  invites: collection<Invite>({ indexes: [{ on: ['workspaceId'] }] }),
  apiKeys: collection<ApiKey>({
    indexes: [{ on: ['workspaceId'] }, { on: ['hash'], unique: true }],
  }),
  cannedReplies: collection<CannedReply>({
    indexes: [{ on: ['workspaceId'] }, { on: ['workspaceId', 'shortcut'], unique: true }],
  }),
};
