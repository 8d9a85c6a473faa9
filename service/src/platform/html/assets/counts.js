// The tab's title says how many customers wait for an answer, even while nobody looks at the tab.

function showCount() {
  const waiting = document.getElementById('conversations-count')?.textContent.trim() ?? '';
  const title = document.title.replace(/^\(\d+\+?\) /, '');
  const next = waiting === '' ? title : `(${waiting}) ${title}`;
  if (document.title !== next) document.title = next;
}
document.addEventListener('htmx:afterSwap', ({ detail: { target } }) => {
  if (target.id === 'conversations-count') showCount();
});
