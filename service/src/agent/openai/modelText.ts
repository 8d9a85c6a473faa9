/** What is done to words from a model, and to words for one, before anybody else sees them. */

/** Without NUL and without halves of surrogate pairs: no channel and no store takes them. */
export const cleanText = (text: string): string => text.replace(/[\0\p{Surrogate}]/gu, '');

const THINKING_STARTS = /^\s*<think(?:ing)?>/i;
const THINKING_ENDS = /<\/think(?:ing)?>/i;

/**
 * Removes the reasoning that some models write before their answer; some chat templates swallow its
 * opening tag.
 */
export function removeThinking(text: string): string {
  let rest = text;
  for (;;) {
    const end = THINKING_ENDS.exec(rest);
    const starts = THINKING_STARTS.test(rest);
    if (end === null) return starts ? '' : rest;
    // written in the middle: part of the answer
    if (!starts && /<think(?:ing)?>/i.test(rest.slice(0, end.index))) return rest;
    rest = rest.slice(end.index + end[0].length);
  }
}
