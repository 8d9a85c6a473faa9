import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/**
 * Converts the value of a date field to the form of the API.
 * @throws NodeOperationError when it is not a date
 */
export function readInstant(context: IExecuteFunctions, value: unknown, itemIndex: number): string {
	const text = String((value instanceof Date ? value.toJSON() : value) ?? '').trim();
	const instant = toInstant(text, context.getTimezone());
	if (instant) return instant;
	throw new NodeOperationError(context.getNode(), `"${text}" is not a date and time`, {
		itemIndex,
		description: 'Choose one, or set an expression such as {{ $now.minus({ hours: 1 }) }}.',
	});
}

/** A date of ISO 8601, with or without a time. Others, such as 03.04.2026, are ambiguous. */
const ISO_DATE = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?$/i;
/**
 * A date as e-mails have it in their Date header: Sat, 21 Nov 2026 10:00:00 +0100. Many servers name
 * the zone too, as in +0000 (UTC), or write GMT.
 */
const EMAIL_DATE =
	/^(?:[a-z]{3}, )?(\d{1,2} [a-z]{3} \d{4}) \d{2}:\d{2}(:\d{2})? (?:[+-]\d{4}(?: \([^()]*\))?|GMT)$/i;

/**
 * Converts a text to the form of the API, with a numeric offset. A text without an offset, such as one
 * from the date picker, is a time in the workflow's time zone.
 * @returns null when the text is not a date
 */
export function toInstant(value: string, timeZone: string): string | null {
	const hasOffset = EMAIL_DATE.test(value) || /:.*(Z|[+-]\d{2}(:?\d{2})?)$/i.test(value);
	const wallClock = value.includes(':') ? value : `${value}T00:00`;
	// `Date` does not read an offset of hours only, as in 2026-11-21T10:00:00+01.
	const time = new Date(hasOffset ? value.replace(/([+-]\d{2})$/, '$1:00') : `${wallClock}Z`);
	if (!isInCalendar(value) || Number.isNaN(time.getTime())) return null;
	const instant = hasOffset ? time : new Date(time.getTime() - offsetMs(time, timeZone));
	return instant.toISOString().replace('Z', '+00:00');
}

/** Whether the text is a date and its day exists. `Date` reads February 30 as March 2. */
function isInCalendar(value: string): boolean {
	if (ISO_DATE.test(value)) {
		const day = value.slice(0, 10);
		return new Date(`${day}T00:00Z`).getUTCDate() === Number(day.slice(8));
	}
	const [, day] = EMAIL_DATE.exec(value) ?? [];
	return day !== undefined && new Date(`${day} 00:00 +0000`).getUTCDate() === parseInt(day, 10);
}

/** How far the zone's clock is ahead of UTC, in milliseconds, when it shows this time. */
function offsetMs(wallClock: Date, timeZone: string): number {
	const guessMs = offsetAt(wallClock.getTime(), timeZone);
	return offsetAt(wallClock.getTime() - guessMs, timeZone);
}

/** How far the zone's clock is ahead of UTC at an instant, in milliseconds. */
function offsetAt(instantMs: number, timeZone: string): number {
	const shown = new Date(instantMs).toLocaleString('sv-SE', { timeZone });
	return new Date(`${shown.replace(' ', 'T')}Z`).getTime() - Math.floor(instantMs / 1000) * 1000;
}
