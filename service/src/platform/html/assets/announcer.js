// Announces to screen readers the messages that arrive while their thread is open.

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
  // Screen readers announce only what is added to a region that is already on the page.
  if (!region.isConnected) document.body.append(region);
  if (known === null) return;
  const added = [...incoming()].filter(({ id }) => !known.has(id));
  known = null;
  if (added.length > 0) region.textContent = added.map(inWords).join(' ');
});
document.body.append(region);

const inWords = (message) => {
  const textOf = (selector) =>
    [...message.querySelectorAll(selector)].map((part) => part.textContent.trim()).join(' ');
  return `${textOf('.who')}: ${textOf('.text, .attachment').slice(0, MAX_CHARACTERS)}`;
};
