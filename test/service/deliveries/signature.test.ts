// Checks our signer with the test vectors of the receivers' kit and with the two libraries that
// receivers use.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import {
  serviceSignature,
  signatureHeaders,
} from '../../../service/src/platform/security/signature.ts';

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly header: string | null;
  readonly body: string;
  readonly now: number;
  readonly valid: boolean;
}

const { vectors } = JSON.parse(
  readFileSync(new URL('../../../examples/receivers/vectors.json', import.meta.url), 'utf8'),
) as { vectors: Vector[] };
const valid = vectors.filter((each) => each.valid);
const invalid = vectors.filter((each) => !each.valid);
const timeOf = ({ header, now }: Vector) => Number(/(?:^|,)t=(\d+)/.exec(header ?? '')?.[1] ?? now);
const hexesOf = ({ header }: Vector) =>
  [...(header ?? '').matchAll(/(?:^|,)v1=([^,]*)/g)].map(([, hex]) => hex);

describe('our signer and the test vectors', () => {
  it.each(valid)('makes a v1 that is in the vector’s header: $name', (vector) => {
    const ours = serviceSignature(vector.body, [vector.secret], timeOf(vector));
    expect(ours).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
    expect(hexesOf(vector)).toContain(ours.split('v1=')[1]);
  });

  // With an empty secret, our signer would write the same header.
  it.each(invalid.filter(({ secret }) => secret !== ''))(
    'would not have written this header at this time: $name',
    ({ body, header, secret, now }) => {
      const ours = Array.from({ length: 601 }, (_, n) =>
        serviceSignature(body, [secret], now - 300 + n),
      );
      expect(ours).not.toContain(header);
    },
  );

  it('the vectors cover what receivers get wrong', () => {
    const names = vectors.map(({ name }) => name).join('\n');
    expect(names).toMatch(/altered|changed/);
    for (const word of ['old', 'ahead', 'two v1', 'capitals', 'hex', 'whole secret', 'empty'])
      expect(names).toContain(word);
    expect(valid.length).toBeGreaterThan(10);
  });
});

describe('the libraries that receivers use, with their defaults', () => {
  const secrets = fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
  const bodies = fc
    .record({
      id: fc.constant('evt_1'),
      text: fc.string({ unit: 'grapheme' }),
      data: fc.jsonValue(),
    })
    .map((value) => JSON.stringify(value));
  const stripe = new Stripe('sk_test_unused').webhooks;
  const byStripe = (body: string | Buffer, headers: Record<string, string>, secret: string) =>
    stripe.constructEvent(body, headers['x-service-signature']!, secret);
  const byStandard = (body: string | Buffer, headers: Record<string, string>, secret: string) =>
    new Webhook(secret).verify(body, headers);
  const libraries = [
    ['Stripe constructEvent', byStripe],
    ['standardwebhooks', byStandard],
  ] as const;

  it.each(libraries)(
    '%s accepts each secret of a rotation, whatever the body, and refuses what was altered',
    (_name, verify) => {
      fc.assert(
        fc.property(
          bodies,
          fc.uniqueArray(secrets, { minLength: 1, maxLength: 3 }),
          secrets,
          fc.nat(),
          (body, valid, other, position) => {
            const headers = signatureHeaders('evt_1', body, valid, new Date());
            for (const secret of valid)
              expect(verify(body, headers, secret)).toEqual(JSON.parse(body));
            fc.pre(!valid.includes(other));
            expect(() => verify(body, headers, other)).toThrow();

            const bytes = Buffer.from(body);
            bytes[position % bytes.length]! ^= 1;
            for (const altered of [bytes, `${body} `, body.slice(0, -1), '']) {
              for (const secret of valid) expect(() => verify(altered, headers, secret)).toThrow();
            }
          },
        ),
        { numRuns: 30 },
      );
    },
  );

  it.each(libraries)(
    '%s refuses what is too old, and what was signed for another time',
    (_name, verify) => {
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      const body = '{"id":"evt_1","text":"Grüße, 你好 🎉"}';
      const signedAt = (offsetS: number) =>
        signatureHeaders('evt_1', body, [secret], new Date(Date.now() + offsetS * 1000));
      expect(() => verify(body, signedAt(-302), secret)).toThrow();
      expect(() => verify(body, signedAt(-290), secret)).not.toThrow();
      const headers = signedAt(-100);
      const later = Math.floor(Date.now() / 1000);
      const moved = {
        ...headers,
        'webhook-timestamp': String(later),
        'x-service-signature': headers['x-service-signature'].replace(/t=\d+/, `t=${later}`),
      };
      expect(() => verify(body, moved, secret)).toThrow();
    },
  );

  it('standardwebhooks refuses another id, because its signature covers the id', () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const headers = signatureHeaders('evt_1', '{}', [secret], new Date());
    expect(() => byStandard('{}', { ...headers, 'webhook-id': 'evt_2' }, secret)).toThrow();
  });
});
