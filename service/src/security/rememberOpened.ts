import type { SecretBox } from './secretBox.ts';

/** Of 25 subscriptions for each of some workspaces; beyond it they are simply deciphered again. */
const MAX_REMEMBERED = 1000;

/**
 * A box that deciphers each secret once, for what opens the same ones thousands of times a second.
 */
export function rememberOpened(box: SecretBox): SecretBox {
  const opened = new Map<string, string>();
  return {
    ...box,
    open(sealed) {
      const known = opened.get(sealed);
      if (known !== undefined) return known;
      const secret = box.open(sealed);
      if (opened.size >= MAX_REMEMBERED) opened.clear();
      opened.set(sealed, secret);
      return secret;
    },
  };
}
