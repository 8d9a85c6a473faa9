/** The lines of a field, or the texts of an expression with a list, trimmed and without empty ones. */
export const linesOf = (value: unknown): string[] =>
	(Array.isArray(value) ? (value as unknown[]) : String(value ?? '').split('\n'))
		.map((each) => String(each ?? '').trim())
		.filter(Boolean);
