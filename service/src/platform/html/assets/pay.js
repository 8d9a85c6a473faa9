// Payment pages whose state is about to change: loads the state again without moving the page under
// its reader. Without scripts, the whole page reloads.

import { inReadersZone } from './times.js';

const FIRST_WAIT_SECONDS = 3;
const MAX_WAIT_SECONDS = 60;
const section = document.querySelector('[data-reload]');
const wait = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** @returns the state as the service has it now; null when it cannot be reached */
async function load(href) {
  try {
    const response = await fetch(href, { redirect: 'manual' });
    // The payment page of the provider is ready.
    if (response.type === 'opaqueredirect') return location.assign(href);
    if (!response.ok) return null;
    return new DOMParser()
      .parseFromString(await response.text(), 'text/html')
      .querySelector('.status');
  } catch {
    return null; // offline for a moment
  }
}

for (let seconds = FIRST_WAIT_SECONDS; section?.dataset.reload; seconds++) {
  await wait(Math.min(MAX_WAIT_SECONDS, seconds));
  const next = await load(section.dataset.reload);
  if (!next) continue;
  if (next.dataset.reload) section.dataset.reload = next.dataset.reload;
  else delete section.dataset.reload;
  inReadersZone(next);
  if (next.textContent === section.textContent) continue;
  section.className = next.className;
  section.replaceChildren(...next.childNodes);
}
