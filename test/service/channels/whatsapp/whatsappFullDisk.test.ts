import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { apiClient } from '../../../helpers/apiClient.ts';
import { connectNumber, deliver, metaBody, metaValue } from '../../../helpers/meta.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

const MAIN = fileURLToPath(new URL('../../../../service/dist/main.js', import.meta.url));
const KEY = `cs_live_${'W'.repeat(32)}`;
const CUSTOMERS = ['5491155550001', '5491155550002', '5491155550003'];
const onLinux = process.platform === 'linux' ? describe : describe.skip;

// A file size limit makes real writes fail as a full disk does, for any user, and can be lifted
// again.
onLinux('when WhatsApp delivers and files cannot grow any more', () => {
  let folder: string;
  let child: ChildProcess;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
  });
  afterEach(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('Meta is asked with 503 to repeat, and after the repeats each message is stored once, in order', async () => {
    let out = '';
    const limit = 'ulimit -S -f 256; exec "$0" "$1"'; // 256 blocks of 512 or 1024 bytes
    child = spawn('sh', ['-c', limit, process.execPath, MAIN], {
      env: {
        PATH: process.env.PATH,
        PORT: '0',
        DATA_DIR: folder,
        BOOTSTRAP_API_KEY: KEY,
        API_RATE_LIMIT_PER_MINUTE: '0',
        ADDRESS_BUDGET: '0',
      },
    });
    child.stdout!.on('data', (chunk) => (out += String(chunk)));
    const url = await waitFor('the start', () => /"url":"([^"]+)"/.exec(out)?.[1]);
    const api = apiClient(url, KEY);
    const number = await connectNumber(api);
    /** What Meta will deliver again: the bodies that were not answered with 200. */
    const owed: unknown[] = [];
    let batches = 0;
    const batch = () => {
      batches += 1;
      const messages = CUSTOMERS.map((phone) => ({
        from: phone,
        id: `wamid.${batches} ${phone}`,
        timestamp: '1739321024',
        type: 'text',
        text: { body: `${batches} ${'x'.repeat(2000)}` },
      }));
      return metaBody(metaValue({ messages }));
    };
    let answer = { status: 200, headers: new Headers() };
    for (let n = 0; n < 300 && answer.status === 200; n++) {
      const body = batch();
      answer = await deliver(url, number, body);
      if (answer.status !== 200) owed.push(body);
    }
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);

    await promisify(execFile)('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']);
    for (const body of owed)
      await waitFor(
        'the repeat to be taken',
        async () => (await deliver(url, number, body)).status === 200,
      );
    expect((await deliver(url, number, batch())).status).toBe(200);
    for (const phone of CUSTOMERS) {
      const { body } = await api.post('/api/contacts/lookup', { phone: `+${phone}` });
      const read = (await api.get(`/api/conversations/${body.id}?messages=200`)).body;
      expect(read.messages.map(({ text }: { text: string }) => Number(text.split(' ')[0]))).toEqual(
        Array.from({ length: batches }, (_, n) => n + 1),
      );
    }
  });
});
