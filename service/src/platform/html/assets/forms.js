// What forms do beyond being sent.

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
  if (
    event.defaultPrevented ||
    event.key !== 'Enter' ||
    !(event.ctrlKey || event.metaKey) ||
    !event.target.matches?.('textarea')
  )
    return;
  event.target.form?.requestSubmit();
});

/**
 * Shows the UTC of an <input type="datetime-local" data-own-zone> in the reader's own zone. The
 * date of an <input type="date" data-own-day> is in that zone too. The form sends the zone as
 * `offset`.
 */
function inOwnTimes() {
  document.querySelectorAll('input[data-own-day]').forEach(markLocal);
  for (const input of document.querySelectorAll('input[data-own-zone]')) {
    const time = new Date(`${input.value}Z`);
    delete input.dataset.ownZone;
    markLocal(input);
    if (Number.isNaN(time.getTime())) continue;
    input.value = new Date(time - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  }
}
/** Shows in the form which zone its times are in. */
function markLocal(input) {
  input.dataset.local = '';
  input.form.querySelector('[data-zone]').textContent =
    Intl.DateTimeFormat().resolvedOptions().timeZone;
}
inOwnTimes();
document.addEventListener('htmx:load', inOwnTimes);
/** The time that was entered; for a date, the end of that day. */
const localTime = ({ type, value }) => new Date(type === 'date' ? `${value}T24:00` : value);
document.addEventListener(
  'submit',
  (event) => {
    for (const input of event.target.querySelectorAll('input[data-local]'))
      input.form.elements.offset.value = localTime(input).getTimezoneOffset() || 0;
  },
  true,
);

/** In a form that came back, the first field to correct gets the focus. */
const focusProblem = () => {
  const field = document.querySelector('main [aria-invalid="true"]');
  field?.focus();
  field?.scrollIntoView({ block: 'center' });
};
focusProblem();
document.addEventListener('htmx:afterSettle', (event) => {
  // A page that came by htmx is scrolled to its top after this event.
  if (event.detail.target === document.body) setTimeout(focusProblem);
});
