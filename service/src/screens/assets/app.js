// What the pages do beyond links and forms: small, and each page works without it.

/** <button data-copy="#id"> copies the text of another element. */
document.addEventListener('click', async (event) => {
  const button = event.target.closest?.('[data-copy]');
  if (!button) return;
  const source = document.querySelector(button.dataset.copy);
  await navigator.clipboard.writeText(source.value ?? source.textContent);
  const label = button.textContent;
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = label), 1500);
});

/** <form data-confirm="Really?"> asks first. */
document.addEventListener(
  'submit',
  (event) => {
    const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
    if (question && !window.confirm(question)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  },
  true,
);

/** Ctrl+Enter sends what is written in a text field. */
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !event.target.matches?.('textarea')) return;
  event.target.form?.requestSubmit();
});

/** A list that is followed stays at its end when something is added, unless its reader has scrolled up. */
const followed = () => document.querySelector('[data-follow]');
let atEnd = true;
const toEnd = () => {
  const list = followed();
  if (list && atEnd) list.scrollTop = list.scrollHeight;
};
document.addEventListener('scroll', (event) => {
  if (event.target === followed()) atEnd = event.target.scrollHeight - event.target.scrollTop - event.target.clientHeight < 40;
}, true);
document.addEventListener('htmx:afterSwap', toEnd);
document.addEventListener('DOMContentLoaded', toEnd);
