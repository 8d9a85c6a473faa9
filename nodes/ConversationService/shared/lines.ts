/** The lines of a field, or the texts in an expression's list, trimmed and without empty ones. */
export const linesOf = (value: unknown): string[] =>
	(Array.isArray(value) ? (value as unknown[]) : String(value ?? '').split('\n'))
		.map((each) => String(each ?? '').trim())
		.filter(Boolean);
