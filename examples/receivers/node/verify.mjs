import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Whether a delivery was signed with this secret, at most `toleranceSeconds` ago or ahead.
 * @param header the X-Service-Signature header
 * @param body the raw bytes, as received
 * @param secret the whole secret, `whsec_` included
 */
export function isGenuine(
  header,
  body,
  secret,
  toleranceSeconds = 300,
  nowSeconds = Date.now() / 1000,
) {
  const parts = String(header ?? '').split(',');
  const times = parts.filter((part) => part.startsWith('t='));
  const t = times.length === 1 ? /^t=([0-9]{1,15})$/.exec(times[0])?.[1] : undefined;
  if (!secret || !t || Math.abs(nowSeconds - Number(t)) > toleranceSeconds) return false;
  const expected = Buffer.from(
    `v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`,
  );
  // Several v1 values may be there (a secret is being rotated); one that fits is enough.
  return parts
    .map((part) => Buffer.from(part))
    .some((part) => part.length === expected.length && timingSafeEqual(part, expected));
}
