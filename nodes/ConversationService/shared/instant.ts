import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/**
 * Reads a date field in the form of the API.
 * @throws NodeOperationError when the text is not a date
 */
export function readInstant(context: IExecuteFunctions, value: string, itemIndex: number): string {
	const instant = toInstant(value, context.getTimezone());
	if (instant) return instant;
	throw new NodeOperationError(context.getNode(), `"${value}" is not a date and time`, {
		itemIndex,
		description: 'Choose one, or set an expression such as {{ $now.minus({ hours: 1 }) }}.',
	});
}

/**
 * Converts the value of a date field to the form of the API, with a numeric offset. A value without an
 * offset, such as from the date picker, is a wall-clock time in the workflow's time zone.
 * @returns null when the text is not a date
 */
export function toInstant(value: string, timeZone: string): string | null {
	const hasOffset = /(Z|[+-]\d{2}:?\d{2})$/i.test(value) && value.includes(':');
	const wallClock = value.includes(':') ? value : `${value}T00:00`;
	const time = new Date(hasOffset ? value : `${wallClock}Z`);
	if (Number.isNaN(time.getTime())) return null;
	const instant = hasOffset ? time : new Date(time.getTime() - offsetMs(time, timeZone));
	return instant.toISOString().replace('Z', '+00:00');
}

/** How far the zone's clock is ahead of UTC when it shows this wall-clock time. */
function offsetMs(wallClock: Date, timeZone: string): number {
	const guessMs = offsetAt(wallClock.getTime(), timeZone);
	return offsetAt(wallClock.getTime() - guessMs, timeZone);
}

/** The zone's offset from UTC at an instant, in milliseconds. */
function offsetAt(instantMs: number, timeZone: string): number {
	const shown = new Date(instantMs).toLocaleString('sv-SE', { timeZone });
	return new Date(`${shown.replace(' ', 'T')}Z`).getTime() - Math.floor(instantMs / 1000) * 1000;
}
