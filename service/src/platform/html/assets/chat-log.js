// The conversation on the page. It is built from elements and texts, so no message is read as HTML.
import { createChoices } from './chat-choices.js';
import { language, say } from './chat-words.js';

const dayFormat = new Intl.DateTimeFormat(language, {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});
const timeFormat = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });

/** Messages of one sender within this time share one name. */
const TOGETHER_MS = 5 * 60_000;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The same addresses as linkedText.ts finds for the team. */
const ADDRESS = /https?:\/\/[^\s\p{C}<>"]+/giu;
const WITHOUT_SENTENCE_END = /^.*[^.,;:!?'’”»)\]}…*_~]/u;

function trimmed(address) {
  const [short] = WITHOUT_SENTENCE_END.exec(address);
  const isOpen = short.split('(').length > short.split(')').length;
  return isOpen && address[short.length] === ')' ? `${short})` : short;
}

/** A text with its URLs as links, which tell nothing about this page. */
function withLinks(text) {
  const parts = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = trimmed(found);
    const url = URL.canParse(address) ? new URL(address) : null;
    if (url === null || url.username !== '' || url.password !== '') continue;
    const link = element(
      'a',
      { href: url.href, target: '_blank', rel: 'noopener noreferrer nofollow', dir: 'ltr' },
      address,
    );
    parts.push(text.slice(end, index), link);
    end = index + address.length;
  }
  return [...parts, text.slice(end)];
}

const dayOf = (date) => date.toDateString();

function dayName(date) {
  const today = new Date();
  if (dayOf(date) === dayOf(today)) return say('today');
  today.setDate(today.getDate() - 1);
  return dayOf(date) === dayOf(today) ? say('yesterday') : dayFormat.format(date);
}

/**
 * @param teamName the sender of messages without a name
 * @param onChoose gets the answer that was pressed
 * @param onChoicesLost is called when the answers disappear while one of them has the focus
 */
export function createLog(root, { teamName, onRetry, onChoose, onChoicesLost }) {
  const choices = createChoices({ onChoose, onLost: onChoicesLost });
  /** The customer's messages that the service has not confirmed, by the id that this page made. */
  const unconfirmed = new Map();
  const confirmed = new Set();
  const seen = new Set();
  let last = null;
  /** The conversation that is shown as closed. */
  let closed = null;

  const senderOf = ({ from, name }) =>
    from === 'customer'
      ? { name: say('you'), role: null }
      : {
          name: name ?? teamName,
          role: from === 'agent' ? say('assistant') : name === null ? null : say('team'),
        };

  function messageView({ from, name, text, at }) {
    const sender = senderOf({ from, name });
    return element(
      'article',
      { class: `message ${from}` },
      element(
        'p',
        { class: 'by' },
        element('b', { dir: 'auto' }, sender.name),
        ...(sender.role === null ? [] : [' ', element('span', { class: 'role' }, sender.role)]),
        ' ',
        element(
          'time',
          {
            datetime: at.toISOString(),
            title: `${dayFormat.format(at)}, ${timeFormat.format(at)}`,
          },
          timeFormat.format(at),
        ),
      ),
      element('p', { class: 'text', dir: 'auto' }, ...withLinks(text)),
    );
  }

  /** The lines before a message: a new day, or a new conversation. */
  function separators({ at, conversationId }) {
    const made = [];
    if (last === null || dayOf(last.at) !== dayOf(at))
      made.push(
        element(
          'p',
          { class: 'separator' },
          element('time', { datetime: at.toISOString() }, dayName(at)),
        ),
      );
    if (last !== null && last.conversationId !== conversationId)
      made.push(element('p', { class: 'separator' }, say('newConversation')));
    return made;
  }

  const isTogether = (message) =>
    last !== null &&
    last.from === message.from &&
    last.name === message.name &&
    last.conversationId === message.conversationId &&
    message.at - last.at < TOGETHER_MS;

  /** Shows a message as the service has it, once. @returns whether it was new to this page */
  function confirm(received) {
    if (seen.has(received.id)) return false;
    seen.add(received.id);
    const message = {
      ...received,
      at: new Date(received.created_at),
      conversationId: received.conversation_id,
    };
    const own =
      message.client_message_id === null ? undefined : unconfirmed.get(message.client_message_id);
    unconfirmed.delete(message.client_message_id);
    confirmed.add(message.client_message_id);
    own?.querySelector('.state')?.remove();
    own?.classList.remove('pending');
    const view = own ?? messageView(message);
    const before = separators(message);
    view.classList.toggle('together', before.length === 0 && isTogether(message));
    const firstPending = root.querySelector('.pending');
    if (
      own &&
      (firstPending === null ||
        firstPending.compareDocumentPosition(own) & Node.DOCUMENT_POSITION_PRECEDING)
    )
      own.before(...before);
    else putBeforePending(...before, view);
    last = { ...message, view };
    offerChoices();
    return own === undefined;
  }

  /** The answers that the newest message offers, until anything follows it. */
  function offerChoices() {
    const isNewest = last !== null && root.lastElementChild === last.view;
    choices.show(isNewest ? last.view : null, last?.choices ?? []);
  }

  /** Shows a message of the customer, and its state, before the service has it. */
  function showOwn(message, { label, canRetry }) {
    if (confirmed.has(message.id)) return;
    let view = unconfirmed.get(message.id);
    if (!view) {
      view = messageView({
        from: 'customer',
        name: null,
        text: message.text,
        at: new Date(message.at),
      });
      view.classList.add('pending');
      unconfirmed.set(message.id, view);
      root.append(view);
      offerChoices();
    }
    view.querySelector('.state')?.remove();
    if (label === null) return;
    const state = element('p', { class: canRetry ? 'state problem' : 'state' }, label);
    if (canRetry) {
      const button = element('button', { type: 'button', class: 'plain' }, say('tryAgain'));
      button.addEventListener('click', () => onRetry(message));
      state.append(' ', button);
    }
    view.append(state);
  }

  /** Messages that the service has stand above those that it does not have yet. */
  function putBeforePending(...views) {
    const firstPending = root.querySelector('.pending');
    if (firstPending) firstPending.before(...views);
    else root.append(...views);
  }

  /** Says below a conversation that it is closed, once. @returns whether it was new to this page */
  function showClosed(conversationId, text) {
    if (last?.conversationId !== conversationId || closed === conversationId) return false;
    closed = conversationId;
    putBeforePending(element('p', { class: 'separator' }, text));
    offerChoices();
    return true;
  }

  /** At midnight, "Today" becomes "Yesterday". */
  setInterval(() => {
    for (const time of root.querySelectorAll('.separator time')) {
      const name = dayName(new Date(time.dateTime));
      if (time.textContent !== name) time.textContent = name;
    }
  }, 30_000);

  return {
    confirm,
    showOwn,
    showClosed,
    note(text) {
      root.append(element('p', { class: 'separator' }, text));
      offerChoices();
    },
    /** The newest message that the service has sent. */
    lastId: () => last?.id ?? null,
    /** To call when the next messages belong to another token. */
    forgetPosition() {
      last = null;
      offerChoices();
    },
    get isEmpty() {
      return root.childElementCount === 0;
    },
  };
}
