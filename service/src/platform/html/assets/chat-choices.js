// The answers that a message offers: buttons below it, as long as nothing has followed it.
import { say } from './chat-words.js';

/**
 * @param onChoose gets the text of the answer that was pressed
 * @param onLost is called when the buttons disappear while one of them has the focus
 */
export function createChoices({ onChoose, onLost }) {
  const group = document.createElement('div');
  group.className = 'choices';
  group.setAttribute('role', 'group');
  group.setAttribute('aria-label', say('chooseAnswer'));

  function clear() {
    if (!group.isConnected) return;
    const hadFocus = group.contains(document.activeElement);
    group.remove();
    if (hadFocus) onLost();
  }

  function buttonFor(text) {
    const button = document.createElement('button');
    button.type = 'button';
    button.dir = 'auto';
    button.textContent = text;
    button.addEventListener('click', () => {
      clear();
      onChoose(text);
    });
    return button;
  }

  /** Offers answers below a message, in place of any others. @param view null to offer none */
  function show(view, choices) {
    if (view === group.parentElement && view !== null) return;
    clear();
    if (view === null || choices.length === 0) return;
    group.replaceChildren(...choices.map(buttonFor));
    view.append(group);
  }

  return { show };
}
