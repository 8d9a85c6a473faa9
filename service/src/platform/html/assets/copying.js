// Copying, and what a page shows only once.

/** <button data-copy="#id"> copies the text of another element. */
document.addEventListener('click', async (event) => {
  const button = event.target.closest?.('[data-copy]');
  if (!button) return;
  const source = document.querySelector(button.dataset.copy);
  const text = source.value ?? source.textContent;
  const written = navigator.clipboard?.writeText(text).then(() => true);
  // Where the browser gives no access to the clipboard, the text is selected and copied.
  const isCopied = (await written?.catch(() => false)) || copySelected(source);
  if (!isCopied) return;
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = 'Copy'), 1500);
});

/**
 * Over plain http, except on localhost, a page has no clipboard. Selecting the text also helps a
 * reader who has to copy it by hand.
 */
function copySelected(source) {
  const folded = source.closest('details');
  if (folded) folded.open = true;
  if (source.select) source.select();
  else getSelection().selectAllChildren(source);
  return document.execCommand('copy');
}

/**
 * [data-shown-once] is taken off a page that is left, so that going back does not show it again.
 */
addEventListener('pagehide', () =>
  document.querySelectorAll('[data-shown-once]').forEach((secret) => secret.remove()),
);
