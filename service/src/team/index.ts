/** What other subjects may use of team/; nothing else. */

export { keyWith, requireBearer } from './authentication.ts';
export { actorOf, signedInOf, workspaceOf } from './signedIn.ts';
export type { ApiKey, Member, Workspace } from './workspace.ts';
export { createApiKey, getApiKey, listApiKeys, revokeApiKey } from './operations/apiKeys.ts';
export type { SignedIn } from './operations/sessions.ts';
export { findWorkspace } from './operations/team.ts';
