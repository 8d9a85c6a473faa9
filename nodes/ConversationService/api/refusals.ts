import { createHash } from 'node:crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

type Refusals = Record<string, number>;

const refusalsOf = (context: IExecuteFunctions): Refusals =>
	(context.getContext('node').refusals as Refusals | undefined) ?? {};

/**
 * The Idempotency-Key of a step. The service repeats a refusal for the same key, but some refusals
 * are temporary: a turn goes on once its wait has ended. So after each temporary refusal, the next
 * try of the step has a new key. The refusals of each step are counted on their own: if the refusal
 * of one step changed the key of another step, that other step would be sent twice.
 */
export function keyAfterRefusals(context: IExecuteFunctions, step: string): string {
	const count = refusalsOf(context)[step] ?? 0;
	return count === 0 ? step : createHash('sha256').update(`${step} ${count}`).digest('hex');
}

/** Counts a temporary refusal of the step. */
export function noteRefusal(context: IExecuteFunctions, step: string): void {
	const refusals = refusalsOf(context);
	context.getContext('node').refusals = { ...refusals, [step]: (refusals[step] ?? 0) + 1 };
}
