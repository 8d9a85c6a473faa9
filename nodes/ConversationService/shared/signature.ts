import { createHmac, timingSafeEqual } from 'node:crypto';

export type SignatureProblem = 'malformed' | 'too_old' | 'too_new' | 'mismatch';

/**
 * Checks `X-Service-Signature: t=<unix>,v1=<hex>`. v1 is the HMAC-SHA256 over `<t>.<raw body>` in
 * lower-case hex, and its key is the secret. If there are several v1 values, one must match. The
 * service puts the value of its newest secret first. So if a later value matches, the service has
 * replaced the secret.
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
}): { signedAt: number; isSecretReplaced: boolean } | { problem: SignatureProblem } {
	const signed = parseHeader(header);
	if (!signed || !secret) return { problem: 'malformed' };
	const { t, v1 } = signed;
	const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest();
	const match = v1.findIndex((value) => timingSafeEqual(value, expected));
	if (match < 0) return { problem: 'mismatch' };
	const signedAt = Number(t);
	if (nowSeconds - signedAt > toleranceSeconds) return { problem: 'too_old' };
	if (signedAt - nowSeconds > toleranceSeconds) return { problem: 'too_new' };
	return { signedAt, isSecretReplaced: match > 0 };
}

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
