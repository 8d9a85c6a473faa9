// What this browser stores for the chat with one workspace: the token, the unsent messages and what
// is half written.

/** The browser's storage; null in frames where it is blocked. */
function persistentArea() {
  try {
    localStorage.getItem('');
    return localStorage;
  } catch {
    return null;
  }
}

/** @param workspace the slug; each workspace has its own token */
export function openStorage(workspace) {
  const prefix = `conversation-service:chat:${workspace}:`;
  const tokenKey = `${prefix}token`;
  const draftKey = `${prefix}draft`;
  const outboxPrefix = `${prefix}unsent:`;
  const area = persistentArea();
  const memory = new Map();

  const put = (key, value) => {
    memory.set(key, value);
    try {
      area?.setItem(key, value);
    } catch {
      // The storage is full. Memory has to be enough.
    }
  };
  const remove = (key) => {
    memory.delete(key);
    area?.removeItem(key);
  };
  const get = (key) => (area ? area.getItem(key) : null) ?? memory.get(key) ?? null;
  const keys = () => (area ? Object.keys(area) : [...memory.keys()]);

  /**
   * What one tab writes to localStorage may reach another tab a little later. What it puts into the
   * cache is there at once. Browsers have no cache on plain http, nor in some frames.
   */
  const withCache = async (use) => {
    try {
      return await use(await caches.open(prefix));
    } catch {
      return undefined;
    }
  };
  const cachedToken = (cache) => cache.match('/token').then((kept) => kept?.text());

  return {
    /** Whether other tabs see the same. */
    isShared: area !== null,
    token: () => get(tokenKey),
    /** The token, even when another tab kept it only just now. */
    async newestToken() {
      const token = get(tokenKey) ?? (await withCache(cachedToken)) ?? null;
      if (token !== null) put(tokenKey, token);
      return token;
    },
    async keepToken(token) {
      put(tokenKey, token);
      await withCache((cache) => cache.put('/token', new Response(token)));
    },
    /** Forgets the token, unless another tab already has a newer one. */
    async forgetToken(token) {
      if (get(tokenKey) === token) remove(tokenKey);
      await withCache(async (cache) => {
        if ((await cachedToken(cache)) === token) await cache.delete('/token');
      });
    },
    /** What is half written. */
    draft: () => get(draftKey) ?? '',
    keepDraft: (words) => (words === '' ? remove(draftKey) : put(draftKey, words)),
    /** Calls the listener when another tab starts a conversation. */
    onTokenOfAnotherTab(listener) {
      addEventListener('storage', (event) => {
        if (event.key === tokenKey && event.newValue !== null) listener();
      });
    },
    /** The unsent messages, oldest first. */
    unsent: () =>
      keys()
        .filter((key) => key.startsWith(outboxPrefix))
        .map((key) => JSON.parse(get(key)))
        .sort((a, b) => a.at - b.at),
    keepUnsent: (message) => put(outboxPrefix + message.id, JSON.stringify(message)),
    forgetUnsent: (id) => remove(outboxPrefix + id),
  };
}
