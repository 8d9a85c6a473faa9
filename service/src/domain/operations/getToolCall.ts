import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { peekToolCall, viewToolCall } from './loadToolCall.ts';

/** @throws not_found (404) */
export const getToolCall = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction(async (tx) => viewToolCall(tx, await peekToolCall(tx, workspace, id)));
