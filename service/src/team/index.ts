/** What other subjects may use of team/; nothing else. */

export { keyWith, requireBearer } from './authentication.ts';
export { actorOf, signedInOf, workspaceOf } from './signedIn.ts';
export {
  AREA_PERMISSIONS,
  isExpired,
  isValid,
  KEY_AREAS,
  type ApiKey,
  type AreaPermission,
} from './apiKey.ts';
export { memberNote } from './memberNote.ts';
export { isOwner, type Member, type Workspace } from './workspace.ts';
export {
  changeApiKey,
  createApiKey,
  getApiKey,
  listApiKeys,
  revokeApiKey,
} from './operations/apiKeys.ts';
export { fillIn, type CannedReply, type Known } from './cannedReplies/cannedReply.ts';
export { listCannedReplies } from './cannedReplies/operations.ts';
export type { SignedIn } from './operations/sessions.ts';
export { findWorkspace } from './operations/team.ts';
export { endFirstHour } from './operations/endFirstHour.ts';
