import { createHmac, timingSafeEqual } from 'node:crypto';

export type SignatureCheck = 'valid' | 'malformed' | 'too_old' | 'too_new' | 'mismatch';

/**
 * Checks `X-Service-Signature: t=<unix>,v1=<hex>`. v1 is the HMAC-SHA256 over `<t>.<raw body>` in
 * lower-case hex, and its key is the secret. If there are several v1 values, one must match.
 * @param body the bytes as they were received
 * @param secret its UTF-8 bytes are the key, `whsec_` included
 * @see docs/events-and-signatures.md, "Verifying signatures"
 */
export function checkSignature({
	header,
	body,
	secret,
	toleranceSeconds,
	nowSeconds,
}: {
	header: string | undefined;
	body: Buffer;
	secret: string;
	toleranceSeconds: number;
	nowSeconds: number;
}): SignatureCheck {
	const signed = parseHeader(header);
	if (!signed || !secret) return 'malformed';
	const expected = hmac(signed.t, body, secret);
	if (!signed.v1.filter((value) => timingSafeEqual(value, expected)).length) return 'mismatch';
	const ageSeconds = nowSeconds - Number(signed.t);
	if (ageSeconds > toleranceSeconds) return 'too_old';
	return ageSeconds < -toleranceSeconds ? 'too_new' : 'valid';
}

/**
 * Whether the secret that matches is not the newest one. The service puts the `v1` of the newest secret
 * first. During a rotation, a receiver with the replaced secret matches a later `v1`.
 * @param header valid according to `checkSignature`
 */
export function isSignedByOlderSecret({
	header,
	body,
	secret,
}: {
	header: string | undefined;
	body: Buffer;
	secret: string;
}): boolean {
	const signed = parseHeader(header);
	const newest = signed && signed.v1.length > 1 ? signed.v1[0] : undefined;
	if (!signed || !newest) return false;
	return !timingSafeEqual(newest, hmac(signed.t, body, secret));
}

const hmac = (t: string, body: Buffer, secret: string): Buffer =>
	createHmac('sha256', secret).update(`${t}.`).update(body).digest();

/** Returns `t` exactly as written, since that text is signed, and the well-formed v1 values. */
function parseHeader(header: string | undefined): { t: string; v1: Buffer[] } | null {
	const parts = (header ?? '').split(',').map((part) => {
		const [name, ...value] = part.split('=');
		return { name, value: value.join('=') };
	});
	const times = parts.filter(({ name }) => name === 't');
	const v1 = parts
		.filter(({ name, value }) => name === 'v1' && /^[0-9a-f]{64}$/.test(value))
		.map(({ value }) => Buffer.from(value, 'hex'));
	// With two times, nobody could tell which one was signed.
	const t = times.length === 1 ? times[0]?.value : undefined;
	return t && /^\d{1,15}$/.test(t) && v1.length > 0 ? { t, v1 } : null;
}
