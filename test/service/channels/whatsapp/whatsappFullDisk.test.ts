import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { connectNumber, deliver, metaBody, metaValue, textMessage } from '../../../helpers/meta.ts';
import { startServiceProcess, type ServiceProcess } from '../../../helpers/serviceProcess.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

const CUSTOMERS = ['5491155550001', '5491155550002', '5491155550003'];
const onLinux = process.platform === 'linux' ? describe : describe.skip;

// A file size limit makes real writes fail as a full disk does, for any user, and can be lifted
// again.
onLinux('when WhatsApp delivers and files cannot grow any more', () => {
  let service: ServiceProcess | undefined;
  afterEach(() => service?.close());

  it('Meta is asked with 503 to repeat, and after the repeats each message is stored once, in order', async () => {
    // 256 blocks of 512 or 1024 bytes
    const limited = 'ulimit -S -f 256; exec "$@"';
    service = await startServiceProcess({ launcher: ['sh', '-c', limited, 'sh'] });
    const { url, api, pid } = service;
    const number = await connectNumber(api);
    /** What Meta will deliver again: the bodies that were not answered with 200. */
    const owed: unknown[] = [];
    let batches = 0;
    const batch = () => {
      batches += 1;
      const messages = CUSTOMERS.map((phone) =>
        textMessage(phone, `${batches} ${'x'.repeat(2000)}`, `wamid.${batches} ${phone}`),
      );
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

    await promisify(execFile)('prlimit', ['--pid', String(pid), '--fsize=unlimited']);
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
