import { MAX_MESSAGE_CHARACTERS } from '../../conversations/index.ts';
import type { Workspace } from '../../team/index.ts';
import { assetUrl } from '../../platform/html/assets.ts';
import { html, type View } from '../../platform/html/html.ts';

const page = (title: string, { scripted }: { scripted: boolean }, content: View): View => html`
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <title>${title}</title>
      <link rel="icon" type="image/svg+xml" href=${assetUrl('mark.svg')} />
      <link rel="stylesheet" href=${assetUrl('chat.css')} />
      ${scripted ? html`<script type="module" src=${assetUrl('chat.js')}></script>` : null}
    </head>
    <body>${content}</body>
  </html>
`;

/** The customers' chat page. Its scripts are in assets/chat*.js. */
export const chatPage = ({ slug, name }: Workspace): View =>
  page(
    `Chat with ${name}`,
    { scripted: true },
    html`
      <header>
        <h1 dir="auto" tabindex="-1">${name}</h1>
      </header>
      <main id="chat" data-workspace=${slug} data-name=${name} data-text-max=${MAX_MESSAGE_CHARACTERS}>
        <noscript><p class="notice">This chat needs JavaScript. Turn it on for this page, then reload.</p></noscript>
        <div id="scroll" tabindex="0" role="region" aria-label="Messages" hidden>
          <p id="welcome">Welcome! Write us a message, and we’ll reply here.</p>
          ${detailsForm}
          <div id="log" role="log" aria-live="polite" aria-relevant="additions" aria-label="Conversation" aria-busy="true"></div>
          <p id="typing" hidden>Typing<span aria-hidden="true">…</span></p>
        </div>
        <button id="to-end" type="button" hidden>New messages <span aria-hidden="true">↓</span></button>
        <p id="connection" class="notice" hidden></p>
        ${composer}
      </main>
      <p id="announcer" class="unseen" role="status"></p>
    `,
  );

const detailsForm: View = html`
  <form id="details" novalidate hidden>
    <h2>Who are we talking to?</h2>
    <p>Both are optional. You can also just write your message.</p>
    <label for="name">Name</label>
    <input id="name" name="name" autocomplete="name" maxlength="200" dir="auto" />
    <label for="email">Email</label>
    <input id="email" name="email" type="email" autocomplete="email" maxlength="254" aria-describedby="email-problem" />
    <p id="email-problem" class="problem" role="alert" hidden></p>
    <div class="row">
      <button>Continue</button>
      <button id="skip" type="button" class="plain">Skip</button>
    </div>
  </form>
`;

const composer: View = html`
  <form id="composer" novalidate hidden>
    <label for="text" class="unseen">Your message</label>
    <textarea id="text" name="text" rows="1" dir="auto" placeholder="Your message" enterkeyhint="send" autocomplete="off" aria-describedby="counter hint"></textarea>
    <button>Send</button>
    <p id="counter" hidden></p>
    <p id="hint" class="unseen">Press Enter to send, Shift and Enter for a new line.</p>
  </form>
`;

/** Shown when there is no such workspace. */
export const noChatPage: View = page(
  'No chat here',
  { scripted: false },
  html`
    <main class="nothing">
      <h1>There is no chat here</h1>
      <p>Check the link, or ask the person who gave it to you.</p>
    </main>
  `,
);
