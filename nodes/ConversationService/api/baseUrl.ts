/** What is wrong with a base URL, and what to enter instead. */
export interface BaseUrlProblem {
	problem: string;
	fix: string;
}

/**
 * Checks the base URL and returns it as requests use it, without a slash at the end.
 * Plain http is accepted for local hosts only, since every request carries the API key.
 */
export function checkBaseUrl(value: unknown): { baseUrl: string } | BaseUrlProblem {
	const text = typeof value === 'string' ? value.trim() : '';
	const url = parseUrl(text);
	if (!url || !['http:', 'https:'].includes(url.protocol)) {
		return {
			problem: text ? `The base URL "${text}" is not a web address` : 'The base URL is empty',
			fix: 'Enter the address of Conversation Service in the credential, for example https://conversations.example.com or http://localhost:3000.',
		};
	}
	// `search` and `hash` are empty for a lone "?" or "#".
	if (url.username || url.password || /[?#]/.test(url.href)) {
		return {
			problem: 'The base URL contains more than an address',
			fix: 'Enter only the address in the credential, without user name, password, "?" or "#". Enter the API key in its own field.',
		};
	}
	if (!isSafeForKey(url)) {
		return {
			problem: `The base URL must begin with https:// because ${url.hostname} is not a local host`,
			fix: 'Over http://, others could read the API key. Put the service behind https, or use a local host: localhost, 127.0.0.1, a name ending in .local, host.docker.internal, or the name of a container.',
		};
	}
	return { baseUrl: url.href.replace(/\/+$/, '') };
}

/** Whether the API key may be sent to this address: over https anywhere, over http to a local host. */
export const isSafeForKey = (url: URL): boolean =>
	url.protocol === 'https:' || (url.protocol === 'http:' && isLocalHost(url.hostname));

export function parseUrl(text: string, base?: string): URL | null {
	try {
		return new URL(text, base);
	} catch {
		return null;
	}
}

const CONTAINER_HOSTS = [
	'host.docker.internal',
	'gateway.docker.internal',
	'host.containers.internal',
];

/**
 * Whether a host is local: localhost, 127.0.0.0/8, ::1, *.localhost, *.local, the names that
 * containers give their host, and names without a dot such as `conversation-service`. Public names
 * always have a dot, so those are containers or machines of the same network.
 * Private addresses such as 192.168.0.10 are not local, since requests to them cross a network.
 */
export function isLocalHost(hostname: string): boolean {
	const host = hostname.toLowerCase().replace(/\.$/, '');
	if (host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)) return true;
	if (host.endsWith('.local') || host.endsWith('.localhost')) return true;
	return CONTAINER_HOSTS.includes(host) || /^[a-z0-9_-]+$/.test(host);
}
