import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import type * as signatureFile from '../../nodes/ConversationService/shared/signature';
import { builtFile } from './helpers/builtFile.ts';

const { checkSignature } = builtFile<typeof signatureFile>('shared/signature');

// The fixture signer: written from docs/events-and-signatures.md alone, never with the code under test.
const secret = 'whsec_dGhpcyBpcyBhIHRlc3Qgc2VjcmV0IG9mIDMyIGI=';
const now = 1_795_000_000;
const body = Buffer.from('{"id":"evt_1","event":"message.received","text":"Grüße 🎉"}');
const hmac = (bytes: Buffer | string, t: number | string = now, key = secret) =>
  createHmac('sha256', key)
    .update(Buffer.concat([Buffer.from(`${t}.`), Buffer.from(bytes)]))
    .digest('hex');
const header = (t: number | string = now, ...v1: string[]) =>
  [`t=${t}`, ...(v1.length > 0 ? v1 : [hmac(body, t)]).map((each) => `v1=${each}`)].join(',');
type Rest = Partial<Parameters<typeof checkSignature>[0]>;
const resultOf = (signature: string | undefined, rest: Rest = {}) =>
  checkSignature({
    header: signature,
    body,
    secret,
    toleranceSeconds: 300,
    nowSeconds: now,
    ...rest,
  });
const check = (signature: string | undefined, rest?: Rest) => {
  const result = resultOf(signature, rest);
  return 'problem' in result ? result.problem : 'valid';
};

describe('checkSignature', () => {
  it('accepts a signature over the raw bytes', () => {
    expect(check(header())).toBe('valid');
  });

  it('refuses a body that differs in one byte, in white space or in the order of its keys', () => {
    for (const altered of [
      '{"id":"evt_2","event":"message.received","text":"Grüße 🎉"}',
      `${body.toString()} `,
      '{"event":"message.received","id":"evt_1","text":"Grüße 🎉"}',
      '',
    ]) {
      expect(check(header(), { body: Buffer.from(altered) })).toBe('mismatch');
    }
  });

  it('refuses the signature of another secret, and a time that was not the one signed', () => {
    expect(check(header(now, hmac(body, now, 'whsec_other')))).toBe('mismatch');
    expect(check(header(now + 1, hmac(body, now)))).toBe('mismatch');
  });

  it('takes the tolerance in both directions, the edge included', () => {
    expect(check(header(now - 300))).toBe('valid');
    expect(check(header(now - 301))).toBe('too_old');
    expect(check(header(now + 300))).toBe('valid');
    expect(check(header(now + 301))).toBe('too_new');
    expect(check(header(now - 11), { toleranceSeconds: 10 })).toBe('too_old');
  });

  it('accepts when one of several v1 values fits, whichever it is', () => {
    const other = hmac(body, now, 'whsec_other');
    expect(check(header(now, other, hmac(body)))).toBe('valid');
    expect(check(header(now, hmac(body), other))).toBe('valid');
    expect(check(header(now, other, other))).toBe('mismatch');
  });

  it('ignores schemes it does not know, and never takes them for v1', () => {
    expect(check(`t=${now},v0=${hmac(body)},v1=${hmac(body)}`)).toBe('valid');
    expect(check(`t=${now},v0=${hmac(body)}`)).toBe('malformed');
    expect(check(`t=${now},v2=${hmac(body)}`)).toBe('malformed');
  });

  it.each([
    ['upper case', hmac(body).toUpperCase()],
    ['not hexadecimal', 'z'.repeat(64)],
    ['too short', hmac(body).slice(0, 62)],
    ['too long', `${hmac(body)}00`],
    ['empty', ''],
    ['base64', createHmac('sha256', secret).update(body).digest('base64')],
  ])('refuses a v1 that is %s', (_what, v1) => {
    expect(check(`t=${now},v1=${v1}`)).toBe('malformed');
  });

  it.each([
    ['nothing', undefined],
    ['an empty header', ''],
    ['no time', `v1=${hmac(body)}`],
    ['no signature', `t=${now}`],
    ['two times', `t=${now},t=${now - 1},v1=${hmac(body)}`],
    ['a time that is no number', `t=soon,v1=${hmac(body, 'soon')}`],
    ['a negative time', `t=-1,v1=${hmac(body, '-1')}`],
    ['an empty time', `t=,v1=${hmac(body, '')}`],
    ['a time with a fraction', `t=${now}.5,v1=${hmac(body, `${now}.5`)}`],
    ['spaces', `t=${now}, v1=${hmac(body)}`],
    ['no names', `${now},${hmac(body)}`],
  ])('refuses %s', (_what, signature) => {
    expect(check(signature)).toBe('malformed');
  });

  it('refuses everything while there is no secret', () => {
    expect(check(header(now, hmac(body, now, '')), { secret: '' })).toBe('malformed');
  });

  it('never throws and never accepts, whatever the header', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (noise) => {
        expect(check(noise)).not.toBe('valid');
        expect(check(`t=${now},v1=${noise}`)).not.toBe('valid');
      }),
    );
  });

  it('agrees with the Stripe SDK on what it signs', () => {
    fc.assert(
      fc.property(fc.json(), (payload) => {
        const signature = Stripe.webhooks.generateTestHeaderString({
          payload,
          secret,
          timestamp: now,
        });
        expect(check(signature, { body: Buffer.from(payload) })).toBe('valid');
      }),
    );
  });

  it('agrees with the Stripe SDK on what to refuse', () => {
    const seconds = Math.floor(Date.now() / 1000);
    const payload = body.toString();
    const signed = (t: number) =>
      Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: t });
    const accepts = (signature: string, text = payload) => {
      try {
        Stripe.webhooks.constructEvent(text, signature, secret, 300);
        return true;
      } catch {
        return false;
      }
    };
    const ours = (signature: string, text = payload) =>
      check(signature, { body: Buffer.from(text), nowSeconds: seconds }) === 'valid';
    const good = signed(seconds);
    for (const [signature, text] of [
      [good, payload],
      [good, `${payload} `],
      [signed(seconds - 400), payload],
      [good.replace(/v1=.*/, (v1) => v1.toUpperCase().replace('V1', 'v1')), payload],
      [good.replace(/v1=/, 'v0='), payload],
      [`${good},v1=${'0'.repeat(64)}`, payload],
      [good.replace(/t=\d+,/, ''), payload],
    ] as const) {
      expect(ours(signature, text)).toBe(accepts(signature, text));
    }
  });

  it('says when it was signed, and that the secret is replaced when that of another comes first', () => {
    const other = hmac(body, now, 'whsec_other');
    const of = (isSecretReplaced: boolean) => ({ signedAt: now, isSecretReplaced });
    expect(resultOf(header())).toEqual(of(false));
    expect(resultOf(header(now, hmac(body), other))).toEqual(of(false));
    expect(resultOf(header(now, other, hmac(body)))).toEqual(of(true));
    expect(resultOf(header(now, other, other, hmac(body)))).toEqual(of(true));
  });
});
