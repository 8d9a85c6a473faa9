// What the chat page says by itself, in the language that the service chose for this browser.

const words = JSON.parse(document.getElementById('chat').dataset.words);

export const language = document.documentElement.lang;

/** @param values fill in what stands in braces, as `{ count: 3 }` for `{count}` */
export const say = (name, values = {}) =>
  words[name].replace(/\{(\w+)\}/g, (_, value) => values[value]);
