// Attack 4: subscriptions to ever new names, whose name server is dead. Look-ups stayed queued after
// their caller had given up, without a bound. For minutes no other tenant could subscribe or get a
// delivery.
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SILENCE, startDnsServer, type DnsServer } from '../helpers/dnsServer.ts';
import { sized } from './size.ts';
import { onStage } from './stage.ts';

/** Whether this user may give a process another /etc/resolv.conf, in a mount namespace of its own. */
const mayMount = (() => {
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write(
      'Attack 4 is left out: only root may give a process a name server of its own (unshare -m).\n',
    );
    return false;
  }
})();

const PORT = 53;
const SUBSCRIPTIONS = 5;

(mayMount ? describe : describe.skip)('4: subscriptions to names under a dead name server', () => {
  let folder: string;
  let dnsServer: DnsServer;
  let host: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'names-'));
    host = `127.53.${randomInt(256)}.${randomInt(1, 255)}`;
    dnsServer = await startDnsServer(
      (name) =>
        name.endsWith('.dead.test')
          ? SILENCE
          : name.endsWith('.honest.test')
            ? ['127.0.0.1']
            : undefined,
      { host, port: PORT },
    );
    await writeFile(join(folder, 'resolv.conf'), `nameserver ${host}\n`);
  });
  afterAll(async () => {
    await dnsServer?.close();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  it('keep nobody else from subscribing, and lose no delivery', () =>
    onStage(
      {
        launcher: [
          'unshare',
          '-m',
          'sh',
          '-c',
          'mount --bind "$0" /etc/resolv.conf && exec "$@"',
          join(folder, 'resolv.conf'),
        ],
      },
      async (stage) => {
        const { honest, hostile } = stage.tenants;
        const statuses: number[] = [];
        const subscribeAsHonest = async () => {
          for (let n = 0; n < SUBSCRIPTIONS; n += 1) {
            const { status, body } = await honest.api.post('/api/hooks', {
              event: 'message.sent',
              target_url: `https://shop-${n}.honest.test/events`,
              source: 'test',
            });
            statuses.push(status);
            if (status === 201) await honest.api.delete(`/api/hooks/${body.id}`);
          }
        };
        const nameCount = sized(300, 600);
        const counts = await stage.attack(
          `4: subscriptions to ${nameCount} names under a dead name server`,
          'requests',
          {
            requests: [
              {
                path: '/api/hooks',
                token: hostile.key,
                json: {
                  event: 'message.sent',
                  target_url: 'https://name-{n}.dead.test/events',
                  source: 'attack',
                },
              },
            ],
            count: nameCount,
            connections: nameCount,
            seconds: 60,
          },
          subscribeAsHonest,
        );
        expect(counts['answers 503']).toBeGreaterThan(0);
        expect(statuses).toEqual(Array(SUBSCRIPTIONS).fill(201));
        await stage.expectNoHarm();
      },
    ));
});
