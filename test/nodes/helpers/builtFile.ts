import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** A file of the nodes as it is built and as n8n loads it, for example `api/errors`. */
export const builtFile = <T>(path: string): T =>
  require(`../../../dist/nodes/ConversationService/${path}.js`) as T;
