import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../helpers/apiClient.ts';
import { waitFor } from '../helpers/waitFor.ts';

const MAIN = fileURLToPath(new URL('../../service/dist/main.js', import.meta.url));
const KEY = `cs_live_${'D'.repeat(32)}`;
const onLinux = process.platform === 'linux' ? describe : describe.skip;

// A file size limit makes real writes fail as a full disk does, for any user, and can be lifted again.
onLinux('when files cannot grow any more', () => {
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

  it('answers writes with 503 and says so in /readyz, keeps what it acknowledged, and goes on when there is room again', async () => {
    let out = '';
    const limit = 'ulimit -S -f 128; exec "$0" "$1"'; // 128 blocks of 512 or 1024 bytes
    child = spawn('sh', ['-c', limit, process.execPath, MAIN], {
      env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY, CHAT_RATE_LIMIT_PER_MINUTE: '0' },
    });
    child.stdout!.on('data', (chunk) => (out += String(chunk)));
    const url = await waitFor('the start', () => /"url":"([^"]+)"/.exec(out)?.[1]);
    const customer = await chatCustomer(url);
    const acknowledged: string[] = [];
    const write = async () => {
      const id = String(acknowledged.length);
      const answer = await customer.api.post('/api/chat/messages', { text: 'x'.repeat(3000), client_message_id: id });
      if (answer.status === 202) acknowledged.push(id);
      return answer;
    };
    let refused = await write();
    for (let n = 0; n < 200 && refused.status === 202; n++) refused = await write();
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const notReady = await waitFor('/readyz to say so', async () => {
      const response = await fetch(`${url}/readyz`);
      return response.status === 503 ? response : null;
    });
    expect(JSON.stringify(await notReady.json())).toMatch(/cannot write/);

    await promisify(execFile)('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']);
    await waitFor('service to resume', async () => (await write()).status === 202);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const stored = (await customer.api.get('/api/chat/messages?limit=200')).body.data.map((each: { client_message_id: string }) => each.client_message_id);
    expect(stored).toEqual(acknowledged);
    expect((await apiClient(url, KEY).get('/api/conversations')).body.data).toHaveLength(1);
  });
});
