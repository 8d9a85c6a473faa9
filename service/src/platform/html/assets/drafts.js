// What is half written in a conversation or in a form of the settings stays in the browser until it
// is sent: through a reload, Back, an error, a lost connection and the end of the session.
// Only the member who wrote it sees it.

const PREFIX = 'draft:';
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;
/** Forms elsewhere are about API keys, members and passwords. */
const KEPT_FORMS =
  /^\/(conversations|waiting|waits|tools|agent|channels|payments\/providers|keys\/subscriptions|settings\/canned-replies)(\/|$)/;
/** Never kept: secrets, and the parts of a tool's request that a secret can be pasted into. */
const SECRET_NAMES = /password|secret|token|^(url|query|headers|body)$/i;
const TEXT_FIELDS =
  'textarea[name], input[name]:is(:not([type]), [type=text], [type=email], [type=number], [type=date])';

const member = () => document.getElementById('live-page')?.dataset.member;
const isKept = (form) =>
  // `form.method` is a field, if the form has one of that name.
  form?.getAttribute('method') === 'post' &&
  KEPT_FORMS.test(pathOf(form)) &&
  form.querySelector(TEXT_FIELDS) !== null;
const pathOf = (form) => new URL(form.getAttribute('action'), location.href).pathname;
const isField = (field) =>
  field.matches?.(`${TEXT_FIELDS}, select[name], [type=checkbox][name]`) &&
  !SECRET_NAMES.test(field.name);
const fieldsOf = (form) => [...form.elements].filter(isField);
const keyOf = (field) => `${PREFIX}${member()}:${pathOf(field.form)} ${field.name}`;

/** A browser may refuse to store anything. */
function inStorage(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}
const read = (key) => inStorage((storage) => JSON.parse(storage.getItem(key)));
const write = (key, draft) => inStorage((storage) => storage.setItem(key, JSON.stringify(draft)));
const remove = (key) => inStorage((storage) => storage.removeItem(key));
const allKeys = () => inStorage((storage) => Object.keys(storage)) ?? [];

/** The value that the service gave a field. */
const givenValue = (field) => {
  if (isBox(field)) return ticked(field.defaultChecked);
  return field.matches('select')
    ? ([...field.options].find((option) => option.defaultSelected)?.value ?? '')
    : field.defaultValue;
};
const isBox = ({ type }) => type === 'checkbox';
const ticked = (isTicked) => (isTicked ? 'on' : '');
const valueOf = (field) => (isBox(field) ? ticked(field.checked) : field.value);
const fill = (field, value) => {
  if (isBox(field)) field.checked = value === 'on';
  else field.value = value;
};

function keep({ target: field }) {
  if (!isField(field) || !member() || !isKept(field.form)) return;
  const [key, base] = [keyOf(field), givenValue(field)];
  const value = valueOf(field);
  if (value === base) remove(key);
  else write(key, { value, base, at: Date.now() });
}
document.addEventListener('input', keep);
// A text field that loses the focus to a swap sends `change` after its draft was removed.
document.addEventListener('change', (event) => {
  if (!event.target.matches(TEXT_FIELDS)) keep(event);
});

/** Fills in the drafts, except where the service has given the field another value since. */
function restore() {
  if (!member()) return;
  const restored = [];
  for (const form of [...document.forms].filter(isKept))
    for (const field of fieldsOf(form)) {
      const draft = read(keyOf(field));
      if (draft?.base !== givenValue(field) || valueOf(field) !== draft.base) continue;
      fill(field, draft.value);
      field.closest('details')?.setAttribute('open', '');
      restored.push({ field, at: draft.at });
    }
  showNote(restored);
}

/** Opens the form of the note if that is the newest draft: the form of the reply hides it. */
function showNote(restored) {
  const [newest] = restored.sort((a, b) => b.at - a.at);
  const mode = document.getElementById('mode-note');
  if (mode && newest?.field.closest('.noting')) mode.checked = true;
}
restore();
document.addEventListener('htmx:afterSwap', restore);

/** The keys and values that each form has sent. */
const sent = new WeakMap();
document.addEventListener('htmx:beforeRequest', ({ detail: { elt } }) => {
  if (!isKept(elt)) return;
  sent.set(
    elt,
    fieldsOf(elt).map((each) => [keyOf(each), valueOf(each)]),
  );
  // Once another page has replaced the form, its events no longer reach the document.
  elt.addEventListener('htmx:beforeOnLoad', takeAnswer);
});
/** Removes the drafts that were sent. What was written after the sending stays. */
function takeAnswer({ target: form, currentTarget, detail: { xhr } }) {
  if (form !== currentTarget) return;
  for (const [key, value] of sent.get(form) ?? []) {
    const draft = read(key);
    if (!draft) continue;
    if (xhr.status >= 400) {
      // The form comes back with what was sent.
      if ([400, 409].includes(xhr.status) && draft.value !== value)
        write(key, { ...draft, base: value });
    } else if (draft.value !== value && draft.value.startsWith(value))
      write(key, { value: draft.value.slice(value.length).trimStart(), base: '', at: Date.now() });
    else if (draft.value === value) remove(key);
  }
}

/** Signing out removes the member's drafts. */
document.addEventListener('submit', ({ target }) => {
  if (!/^\/sign-out/.test(target.getAttribute('action') ?? '')) return;
  for (const key of allKeys()) if (key.startsWith(`${PREFIX}${member()}:`)) remove(key);
});

for (const key of allKeys())
  if (key.startsWith(PREFIX) && !(Date.now() - read(key)?.at < MAX_AGE_MS)) remove(key);
