import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import { peekTool } from './loadTool.ts';

/** @throws not_found (404) */
export const getTool = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction((tx) => peekTool(tx, workspace, id));
