import type { SecretBox } from './secretBox.ts';

/** Enough for the subscriptions of 40 full workspaces. */
const MAX_REMEMBERED = 1000;

/** A box that remembers opened secrets, for a caller that opens the same ones again and again. */
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
