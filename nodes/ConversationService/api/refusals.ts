import { createHash } from 'node:crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

type Refusals = Record<string, number>;

const refusalsOf = (context: IExecuteFunctions): Refusals =>
	(context.getContext('node').refusals as Refusals | undefined) ?? {};

/**
 * The Idempotency-Key of a step. The service remembers a refusal for its key, and some refusals pass:
 * a turn goes on once its wait has ended. After such a refusal, the next try asks anew. Refusals
 * are counted for each step: the refusal of one must not change the key of another, which would be
 * sent again.
 */
export function keyAfterRefusals(context: IExecuteFunctions, step: string): string {
	const count = refusalsOf(context)[step] ?? 0;
	return count === 0 ? step : createHash('sha256').update(`${step} ${count}`).digest('hex');
}

/** Notes a refusal that may pass. */
export function noteRefusal(context: IExecuteFunctions, step: string): void {
	const refusals = refusalsOf(context);
	context.getContext('node').refusals = { ...refusals, [step]: (refusals[step] ?? 0) + 1 };
}
