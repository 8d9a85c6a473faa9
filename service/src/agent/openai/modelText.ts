/** Cleans text on its way to a model and from it. */

/** Removes NUL and lone surrogates, which channels and stores refuse. */
export const cleanText = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '');

const THINKING_STARTS = /^\s*<think(?:ing)?>/i;
const THINKING_ENDS = /<\/think(?:ing)?>/i;

/**
 * Removes the reasoning that some models write before their answer. Its opening tag may be missing,
 * since some chat templates swallow it.
 */
export function removeThinking(text: string): string {
  let rest = text;
  for (;;) {
    const end = THINKING_ENDS.exec(rest);
    const starts = THINKING_STARTS.test(rest);
    if (end === null) return starts ? '' : rest;
    // A tag in the middle of the text is part of the answer.
    if (!starts && /<think(?:ing)?>/i.test(rest.slice(0, end.index))) return rest;
    rest = rest.slice(end.index + end[0].length);
  }
}
