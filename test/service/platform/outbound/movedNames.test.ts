// A connection was checked when it was opened. These tests say for how long that check may stand.
import { afterEach, describe, expect, it } from '@jest/globals';
import type { OutboundClient } from '../../../../service/src/platform/outbound/outboundClient.ts';
import { startTlsReceiver, type TlsReceiver } from '../../../helpers/tls.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { closing, delivery, failureOf, localClient, until } from './support.ts';

const { add, closeAll } = closing();
afterEach(closeAll);

/** Two receivers on one port, at two addresses of this machine. */
const startTwo = async (): Promise<[TlsReceiver, TlsReceiver]> => {
  const here = add(await startTlsReceiver(undefined, { host: '127.0.0.1' }));
  const there = add(await startTlsReceiver(undefined, { host: '127.0.0.2', port: here.port }));
  return [here, there];
};

const moving = async (maxConnectionAgeMs?: number) => {
  let addresses = ['127.0.0.1'];
  const client = add(
    await localClient({
      connectionsPerOrigin: 1,
      maxConnectionAgeMs,
      resolver: async () => addresses,
    }),
  );
  return { client, moveTo: (...to: string[]) => void (addresses = to) };
};

const send = (client: OutboundClient, { url }: TlsReceiver) => client.request(delivery(url));

describe('a name that moves', () => {
  it('is followed by connections in steady use, and no request is lost on the way', async () => {
    const [here, there] = await startTwo();
    const { client, moveTo } = await moving(100);
    expect((await send(client, here)).status).toBe(200);
    moveTo('127.0.0.2');
    let sent = 1;
    await waitFor('the other address', async () => {
      expect((await send(client, here)).status).toBe(200);
      sent += 1;
      return there.requests.length > 0;
    });
    expect(here.requests.length + there.requests.length).toBe(sent);
    await until(() => here.openSockets === 0);
  });

  it('to a closed address is refused once the old connection has served its time', async () => {
    const receiver = add(await startTlsReceiver());
    const { client, moveTo } = await moving(0);
    await send(client, receiver);
    moveTo('10.0.0.1');
    await send(client, receiver); // the last one on the old connection
    expect(receiver.requests.map(({ headers }) => headers.connection)).toEqual([
      'keep-alive',
      'close',
    ]);
    expect((await failureOf(send(client, receiver))).kind).toBe('blocked_address');
    expect(receiver.acceptedSockets).toBe(1);
  });

  it('is looked up again after a connection broke', async () => {
    const [here, there] = await startTwo();
    const { client, moveTo } = await moving();
    await send(client, here);
    moveTo('127.0.0.2');
    await here.close();
    await send(client, here).catch(() => {}); // the break may be seen by this request first
    expect((await send(client, here)).status).toBe(200);
    expect(there.requests.length).toBeGreaterThan(0);
  });

  it('loses no request where many wait for few connections that are replaced again and again', async () => {
    const receiver = add(await startTlsReceiver());
    const client = add(await localClient({ connectionsPerOrigin: 2, maxConnectionAgeMs: 0 }));
    const answers = await Promise.all(Array.from({ length: 200 }, () => send(client, receiver)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(receiver.requests).toHaveLength(200);
    // Two requests a connection; one connection more when both places serve an odd number.
    expect([100, 101]).toContain(receiver.acceptedSockets);
  });
});
