// What this browser keeps of the chat with one workspace: the token, and messages that are not sent
// yet.

/** The browser's storage, or null where it gives a frame none. */
function persistentArea() {
  try {
    localStorage.getItem('');
    return localStorage;
  } catch {
    return null;
  }
}

/** @param workspace the slug; each workspace has a token of its own */
export function openStorage(workspace) {
  const prefix = `conversation-service:chat:${workspace}:`;
  const tokenKey = `${prefix}token`;
  const outboxPrefix = `${prefix}unsent:`;
  const area = persistentArea();
  const memory = new Map();

  const put = (key, value) => {
    memory.set(key, value);
    try {
      area?.setItem(key, value);
    } catch {
      // It is full: memory has to do.
    }
  };
  const remove = (key) => {
    memory.delete(key);
    area?.removeItem(key);
  };
  const get = (key) => (area ? area.getItem(key) : null) ?? memory.get(key) ?? null;
  const keys = () => (area ? Object.keys(area) : [...memory.keys()]);

  return {
    /** Whether other tabs see the same. */
    isShared: area !== null,
    token: () => get(tokenKey),
    keepToken: (token) => put(tokenKey, token),
    /** Forgets the token, unless another tab has a newer one already. */
    forgetToken(token) {
      if (get(tokenKey) === token) remove(tokenKey);
    },
    /** Calls back when another tab has begun a conversation. */
    onTokenOfAnotherTab(listener) {
      addEventListener('storage', (event) => {
        if (event.key === tokenKey && event.newValue !== null) listener();
      });
    },
    /** Messages that were written and not sent, the oldest first. */
    unsent: () =>
      keys()
        .filter((key) => key.startsWith(outboxPrefix))
        .map((key) => JSON.parse(get(key)))
        .sort((a, b) => a.at - b.at),
    keepUnsent: (message) => put(outboxPrefix + message.id, JSON.stringify(message)),
    forgetUnsent: (id) => remove(outboxPrefix + id),
  };
}
