import { MAX_MESSAGE_CHARACTERS } from '../../conversations/index.ts';
import type { Workspace } from '../../team/index.ts';
import { assetUrl } from '../../platform/html/assets.ts';
import { html, type View } from '../../platform/html/html.ts';
import type { Language } from '../../platform/reading/language.ts';
import { CHAT_WORDS, type ChatWords } from './chatWords.ts';

interface PageHead {
  readonly language: Language;
  readonly title: string;
  readonly isScripted: boolean;
}

const page = ({ language, title, isScripted }: PageHead, content: View): View => html`
  <html lang=${language}>
    <head>
      <meta charset="utf-8" />
      <meta
        name="viewport"
        content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content"
      />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <title>${title}</title>
      <link rel="icon" type="image/svg+xml" href=${assetUrl('mark.svg')} />
      <link rel="stylesheet" href=${assetUrl('chat.css')} />
      ${isScripted ? html`<script type="module" src=${assetUrl('chat.js')}></script>` : null}
    </head>
    <body>${content}</body>
  </html>
`;

/** The customers' chat page. Its scripts are in assets/chat*.js. */
export const chatPage = ({ slug, name }: Workspace, language: Language): View => {
  const words = CHAT_WORDS[language];
  return page(
    { language, title: words.title.replace('{name}', () => name), isScripted: true },
    html`
      <header>
        <h1 dir="auto" tabindex="-1">${name}</h1>
      </header>
      <main
        id="chat"
        data-workspace=${slug}
        data-name=${name}
        data-text-max=${MAX_MESSAGE_CHARACTERS}
        data-words=${JSON.stringify(words)}
      >
        <noscript><p class="notice">${words.needsJavaScript}</p></noscript>
        <div id="scroll" tabindex="0" role="region" aria-label=${words.messages} hidden>
          <p id="welcome">${words.welcome}</p>
          ${detailsForm(words)}
          <div
            id="log"
            role="log"
            aria-live="polite"
            aria-relevant="additions"
            aria-label=${words.conversation}
            aria-busy="true"
          ></div>
          <p id="typing" hidden>${words.typing}<span aria-hidden="true">…</span></p>
        </div>
        <button id="to-end" type="button" hidden>
          ${words.newMessages} <span aria-hidden="true">↓</span>
        </button>
        <p id="connection" class="notice" hidden></p>
        ${composer(words)}
      </main>
      <p id="announcer" class="unseen" role="status"></p>
    `,
  );
};

const detailsForm = (words: ChatWords): View => html`
  <form id="details" novalidate hidden>
    <h2>${words.whoAreYou}</h2>
    <p>${words.bothOptional}</p>
    <label for="name">${words.name}</label>
    <input id="name" name="name" autocomplete="name" maxlength="200" dir="auto" />
    <label for="email">${words.email}</label>
    <input
      id="email"
      name="email"
      type="email"
      autocomplete="email"
      maxlength="254"
      aria-describedby="email-problem"
    />
    <p id="email-problem" class="problem" role="alert" hidden></p>
    <div class="row">
      <button>${words.continue}</button>
      <button id="skip" type="button" class="plain">${words.skip}</button>
    </div>
  </form>
`;

const composer = (words: ChatWords): View => html`
  <form id="composer" novalidate hidden>
    <label for="text" class="unseen">${words.yourMessage}</label>
    <textarea
      id="text"
      name="text"
      rows="1"
      dir="auto"
      placeholder=${words.yourMessage}
      enterkeyhint="send"
      autocomplete="off"
      aria-describedby="counter hint"
    ></textarea>
    <button>${words.send}</button>
    <p id="counter" hidden></p>
    <p id="hint" class="unseen">${words.howToSend}</p>
  </form>
`;

/** Shown when there is no such workspace. */
export const noChatPage = (language: Language): View => {
  const words = CHAT_WORDS[language];
  return page(
    { language, title: words.noChatTitle, isScripted: false },
    html`
      <main class="nothing">
        <h1>${words.noChat}</h1>
        <p>${words.checkLink}</p>
      </main>
    `,
  );
};
