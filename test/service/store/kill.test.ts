import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import { all, type ContractStore } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const child = fileURLToPath(new URL('./writeLoad.child.ts', import.meta.url));
const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 2);

/**
 * Lets a process write for a moment after its first acknowledgement and kills it.
 * @returns the last acknowledged number of each writer
 */
const writeAndKill = async (folder: string, forMs: number): Promise<Map<string, number>> => {
  const ledgerFolder = await mkdtemp(join(tmpdir(), 'conversation-service-ledger-'));
  const ledger = join(ledgerFolder, 'ledger');
  const readLedger = () => readFile(ledger, 'utf8').catch(() => '');
  const writing = spawn(process.execPath, [child, folder, ledger], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(writing, 'close');
  await waitFor('the first acknowledgement', async () => (await readLedger()).includes('\n'));
  await sleep(forMs);
  writing.kill('SIGKILL');
  await ended;
  const text = await readLedger();
  await rm(ledgerFolder, { recursive: true });
  const lines = text.slice(0, text.lastIndexOf('\n')).split('\n');
  const entries = lines.map((line) => line.split(' ') as [string, string]);
  return new Map(entries.map(([writer, number]) => [writer, Number(number)]));
};

const jobsOf = async (store: ContractStore) => {
  const request = { queue: 'q', limit: 1_000, freeSlots: () => 1_000, leaseMs: 1 };
  return (await store.claim(request)).map(({ id }) => id);
};

it(
  `loses nothing acknowledged and keeps no half transaction in ${ROUNDS} rounds of kill -9 under load`,
  async () => {
    const { folder, store, reopen, remove } = await openInTemporaryFolder();
    await store.close();
    for (let round = 0; round < ROUNDS; round += 1) {
      const acknowledged = await writeAndKill(folder, (round * 37) % 200);
      const again = await reopen();
      const things = new Map((await all(again)).map(({ id, number }) => [id, number]));
      const jobs = await jobsOf(again);
      expect(acknowledged.size).toBeGreaterThan(0);
      for (const [writer, number] of acknowledged) {
        const kept = things.get(`left-${writer}`)!;
        // The last transaction may have become durable without anybody hearing of it.
        expect([number, number + 1]).toContain(kept);
        expect(things.get(`right-${writer}`)).toBe(kept);
        expect(jobs.filter((id) => id.startsWith(`job-${writer}-`))).toEqual([
          `job-${writer}-${kept}`,
        ]);
      }
      await again.close();
    }
    await remove();
  },
  30_000 + ROUNDS * 5_000,
);
