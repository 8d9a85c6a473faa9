/**
 * Converts the value of a date field to the form of the API, with a numeric offset. A value without an
 * offset, such as from the date picker, is a wall-clock time in the workflow's time zone.
 * @returns null when the text is not a date
 */
export function toInstant(value: string, timeZone: string): string | null {
	const hasOffset = /(Z|[+-]\d{2}:?\d{2})$/i.test(value) && value.includes(':');
	const time = new Date(hasOffset ? value : `${value.includes(':') ? value : `${value}T00:00`}Z`);
	if (Number.isNaN(time.getTime())) return null;
	const instant = hasOffset ? time : new Date(time.getTime() - offsetMs(time, timeZone));
	return instant.toISOString().replace('Z', '+00:00');
}

/** How far the zone's clock is ahead of UTC when it shows this wall-clock time. */
function offsetMs(wallClock: Date, timeZone: string): number {
	const guess = shownIn(timeZone, wallClock.getTime());
	return shownIn(timeZone, wallClock.getTime() - guess);
}

/** The zone's offset from UTC at an instant, in milliseconds. */
function shownIn(timeZone: string, instantMs: number): number {
	const shown = new Date(instantMs).toLocaleString('sv-SE', { timeZone });
	return new Date(`${shown.replace(' ', 'T')}Z`).getTime() - Math.floor(instantMs / 1000) * 1000;
}
