// A form that cannot be sent says so where it stands, keeps what was written, and offers a retry.

/** Answers that are an error page and not the form again. */
const isFailure = (status) => [0, 403, 408, 413, 429].includes(status) || status >= 500;
const isPost = ({ requestConfig }) => requestConfig.verb === 'post';

/** By the form's action. When a live part has loaded again, its forms show their failures again. */
const failures = new Map();
const retried = new WeakSet();

function show(form, { words, pressed }) {
  form.querySelector('.unsent')?.remove();
  const note = document.createElement('div');
  note.className = 'unsent';
  note.setAttribute('role', 'alert');
  const text = document.createElement('p');
  text.textContent = words;
  const retry = document.createElement('button');
  retry.type = 'button';
  retry.className = 'small';
  retry.textContent = 'Retry';
  retry.addEventListener('click', () => sendAgain(form, pressed));
  note.append(text, retry);
  form.append(note);
}

/** Presses the same button again. Ctrl+Enter sends a form without a button. */
function sendAgain(form, { name, value }) {
  const button = [...form.querySelectorAll('button:not([type=button])')].find(
    (each) => each.name === name && each.value === value,
  );
  if (button) button.click();
  else form.requestSubmit();
}

const actionOf = (form) => form.getAttribute('action');

const pressedIn = ({ elt, requestConfig: { triggeringEvent } }) =>
  (elt.matches('button') ? elt : triggeringEvent?.submitter) ?? {};

function fail(detail) {
  const { elt, xhr } = detail;
  const form = elt.closest('form');
  if (form === null) return;
  const { name, value } = pressedIn(detail);
  const failure = {
    words: `Not sent. ${xhr.status === 0 ? 'The service cannot be reached.' : errorTextIn(xhr)}`,
    pressed: { name, value },
  };
  failures.set(actionOf(form), failure);
  if (form.isConnected) show(form, failure);
  else showFailures();
}

const errorTextIn = (xhr) =>
  new DOMParser()
    .parseFromString(xhr.responseText, 'text/html')
    .querySelector('main [role=alert]')
    ?.textContent.trim() ?? 'The service failed. Try again.';

document.addEventListener('htmx:beforeRequest', ({ detail }) => {
  const { elt } = detail;
  if (isPost(detail)) {
    // Once a live part has replaced the form, its events no longer reach the document.
    elt.addEventListener('htmx:sendError', takeSendError);
    elt.addEventListener('htmx:beforeOnLoad', takeFailure);
    forgetFailure(elt.closest('form'));
  }
  if (elt.matches('form')) elt.setAttribute('aria-busy', 'true');
});
function forgetFailure(form) {
  failures.delete(actionOf(form));
  form.querySelector('.unsent')?.remove();
}
document.addEventListener('htmx:afterRequest', ({ detail: { elt } }) =>
  elt.removeAttribute('aria-busy'),
);
const takeSendError = ({ detail }) => fail(detail);
function takeFailure(event) {
  const { detail } = event;
  const { elt, xhr } = detail;
  // Events of a button in the form reach the form too.
  if (event.target !== event.currentTarget || !isFailure(xhr.status)) return;
  event.preventDefault();
  const maySendWithNewToken = elt.matches('form') && elt.isConnected && !retried.has(elt);
  if (xhr.status === 403 && maySendWithNewToken) void sendWithNewToken(detail);
  else fail(detail);
}
document.addEventListener('htmx:afterSwap', showFailures);
function showFailures() {
  for (const form of document.querySelectorAll('form[method=post]'))
    if (failures.has(actionOf(form)) && !form.querySelector('.unsent'))
      show(form, failures.get(actionOf(form)));
}

/**
 * Sends a form once more with a new token: the member has signed in again in another tab, and this
 * page still has the token of the former session.
 */
async function sendWithNewToken(detail) {
  const { elt: form } = detail;
  retried.add(form);
  const now = await currentPage().catch(() => null);
  const memberOf = (page) => page?.getElementById('live-page')?.dataset.member;
  if (memberOf(now) === undefined || memberOf(now) !== memberOf(document)) return fail(detail);
  document.body.setAttribute('hx-headers', now.body.getAttribute('hx-headers'));
  const token = now.querySelector('input[name=csrf]')?.value;
  for (const field of document.querySelectorAll('input[name=csrf]')) field.value = token;
  sendAgain(form, pressedIn(detail));
}

const currentPage = async () =>
  new DOMParser().parseFromString(await (await fetch('/account')).text(), 'text/html');
