// The service in a process of its own, filled first, that writes one snapshot in the middle of a load.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../service/src/config.ts';
import { collections } from '../../service/src/domain/collections.ts';
import { newId } from '../../service/src/domain/ids.ts';
import { startService, type Service } from '../../service/src/service.ts';
import { openLowdbStore } from '../../service/src/store/lowdb/index.ts';
import { answerQuestions } from './children.ts';

export type SnapshotQuestion =
  | { readonly do: 'fill'; readonly folder: string; readonly documents: number; readonly documentBytes: number }
  /** @property afterBytes how much more the journal grows before the snapshot begins */
  | { readonly do: 'start'; readonly folder: string; readonly afterBytes: number }
  | { readonly do: 'stop' };

let service: Service | null = null;

async function fill({ folder, documents, documentBytes }: { folder: string; documents: number; documentBytes: number }): Promise<null> {
  const store = await openLowdbStore(collections, { folder, snapshotAfterBytes: Infinity });
  const body = 'x'.repeat(documentBytes - 200);
  const createdAt = new Date().toISOString();
  for (let n = 0; n < documents; n += 500) {
    await store.transaction(async (tx) => {
      for (let i = n; i < Math.min(documents, n + 500); i += 1) {
        await tx.events.put({ id: newId('evt'), workspaceId: 'ws_filler', name: 'message.received', conversationId: null, body, createdAt });
      }
    });
  }
  await store.close();
  return null;
}

async function start({ folder, afterBytes }: { folder: string; afterBytes: number }): Promise<string> {
  const config = readConfig({ PORT: '0', DATA_DIR: folder, BOOTSTRAP_API_KEY: `cs_live_${'B'.repeat(32)}`, BOOTSTRAP_WORKSPACE: 'Bench', API_RATE_LIMIT_PER_MINUTE: '0', CHAT_RATE_LIMIT_PER_MINUTE: '0', LOG_LEVEL: 'silent' });
  service = await startService(config, { store: { snapshotAfterBytes: statSync(join(folder, 'journal-1.log')).size + afterBytes } });
  return service.url;
}

answerQuestions((question: SnapshotQuestion) => {
  switch (question.do) {
    case 'fill':
      return fill(question);
    case 'start':
      return start(question);
    case 'stop':
      return service?.stop();
  }
});
