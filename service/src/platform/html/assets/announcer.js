// Tells a screen reader of messages that come while their thread is open.

const MAX_CHARACTERS = 300;

const region = document.createElement('div');
region.id = 'announcer';
region.className = 'visually-hidden';
region.setAttribute('role', 'status');

const incoming = () => document.querySelectorAll('#thread .message.from-customer[id]');

let known = null;
document.addEventListener('htmx:beforeSwap', ({ detail: { target } }) => {
  known = target.id === 'thread' ? new Set([...incoming()].map(({ id }) => id)) : null;
});
document.addEventListener('htmx:afterSwap', () => {
  // A region is heard only of what is added to it after it is there.
  if (!region.isConnected) document.body.append(region);
  if (known === null) return;
  const news = [...incoming()].filter(({ id }) => !known.has(id));
  known = null;
  if (news.length > 0) region.textContent = news.map(inWords).join(' ');
});
document.body.append(region);

const inWords = (message) => {
  const textOf = (selector) => message.querySelector(selector)?.textContent.trim() ?? '';
  return `${textOf('.who')}: ${textOf('.text, .attachment').slice(0, MAX_CHARACTERS)}`;
};
