/** The part of an HTTP response that tells how n8n ends it. */
export interface EndingResponse {
	statusCode: number;
	// eslint-disable-next-line @typescript-eslint/no-explicit-any -- as node declares it: overloads
	end(...args: any[]): any;
}

/**
 * Calls `listener` just before a response is ended for the first time, with what `end` gets. n8n may
 * do that long after the trigger has returned, even when the caller has hung up.
 */
export function onEnd(
	response: EndingResponse,
	listener: (chunk: unknown, encoding: unknown) => void,
): void {
	let isEnded = false;
	const { end } = response;
	response.end = (...args: unknown[]) => {
		if (!isEnded) {
			isEnded = true;
			listener(args[0], args[1]);
		}
		return end.apply(response, args) as unknown;
	};
}
