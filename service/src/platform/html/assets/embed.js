// Puts the chat into a page: a button at the bottom right that opens the chat page in a frame.
// <script src="https://service.example.com/chat/embed.js" data-workspace="acme" defer></script>
(() => {
  'use strict';
  const script = document.currentScript ?? document.querySelector('script[src*="/chat/embed.js"]');
  if (!script) return;
  const MARK = 'data-conversation-service-chat';
  const { origin } = new URL(script.src);
  const WORDS = {
    en: { open: 'Chat with us', news: 'new messages', close: 'Close the chat' },
    es: { open: 'Escríbanos', news: 'mensajes nuevos', close: 'Cerrar el chat' },
    pt: { open: 'Fale conosco', news: 'novas mensagens', close: 'Fechar o chat' },
  };
  const { workspace, lang } = script.dataset;
  const languages = [lang, ...navigator.languages].map((each) => each?.slice(0, 2).toLowerCase());
  const words = WORDS[languages.find((each) => Object.hasOwn(WORDS, each)) ?? 'en'];
  const label = script.dataset.label ?? words.open;
  const page = new URL('/chat', origin);
  if (workspace) page.searchParams.set('workspace', workspace);
  if (lang) page.searchParams.set('lang', lang);
  const address = page.href;
  const memoryKey = `conversation-service:chat:${address}`;

  const STYLE = `
    :host { all: initial; color-scheme: light dark; }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    button { all: unset; box-sizing: border-box; display: grid; place-items: center; cursor: pointer; background: #1d4fbf; color: #fff; border-radius: 50%; }
    button:hover { filter: brightness(1.15); }
    button:focus-visible { outline: 3px solid #fff; box-shadow: 0 0 0 6px #1d4fbf; }
    svg { width: 55%; height: 55%; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
    .open, .panel { position: fixed; z-index: 2147483000; right: calc(1rem + env(safe-area-inset-right)); }
    .open { bottom: calc(1rem + env(safe-area-inset-bottom)); width: 3.5rem; height: 3.5rem; box-shadow: 0 2px 10px rgb(0 0 0 / 0.35); border: 1px solid #fff; }
    .news { position: absolute; top: -0.1rem; right: -0.1rem; width: 1rem; height: 1rem; border-radius: 50%; background: #d3261c; border: 2px solid #fff; }
    .panel { bottom: calc(5.25rem + env(safe-area-inset-bottom)); width: 24rem; height: min(40rem, 100dvh - 7rem); border-radius: 1rem; overflow: hidden; background: Canvas; box-shadow: 0 6px 30px rgb(0 0 0 / 0.35); }
    iframe { display: block; width: 100%; height: 100%; border: 0; color-scheme: normal; }
    .close { position: absolute; top: 0.375rem; right: 0.5rem; width: 2.5rem; height: 2.5rem; background: #14203a; }
    .panel:not([hidden]) { animation: rise 0.15s ease-out; }
    @keyframes rise { from { opacity: 0; transform: translateY(0.5rem); } }
    @media (prefers-reduced-motion: reduce) { .panel:not([hidden]) { animation: none; } }
    @media (max-width: 30rem), (max-height: 30rem) {
      .panel { inset: 0; width: 100%; height: var(--height, 100dvh); border-radius: 0; }
      .close { top: calc(0.375rem + env(safe-area-inset-top)); }
      .panel:not([hidden]) ~ .open { display: none; }
    }
  `;

  const make = (name, attributes) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const SVG = 'http://www.w3.org/2000/svg';
  const icon = (path) => {
    const picture = document.createElementNS(SVG, 'svg');
    picture.setAttribute('viewBox', '0 0 24 24');
    picture.setAttribute('aria-hidden', 'true');
    picture.append(document.createElementNS(SVG, 'path'));
    picture.firstChild.setAttribute('d', path);
    return picture;
  };

  /** Whether the chat was open on the previous page; false where the browser stores nothing. */
  const memory = {
    get wasOpen() {
      try {
        return sessionStorage.getItem(memoryKey) === 'open';
      } catch {
        return false;
      }
    },
    set wasOpen(isOpen) {
      try {
        if (isOpen) sessionStorage.setItem(memoryKey, 'open');
        else sessionStorage.removeItem(memoryKey);
      } catch {
        // Then it is closed on the next page.
      }
    },
  };

  function mount() {
    if (document.querySelector(`[${MARK}]`)) return;
    const host = make('div', { [MARK]: '' });
    const root = host.attachShadow({ mode: 'open' });
    // A page's content security policy may forbid style elements, but not adopted style sheets.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];

    const panel = make('div', { class: 'panel', role: 'dialog', 'aria-label': label, hidden: '' });
    const close = make('button', {
      class: 'close',
      type: 'button',
      'aria-label': words.close,
    });
    close.append(icon('M6 6l12 12M18 6L6 18'));
    const open = make('button', {
      class: 'open',
      type: 'button',
      'aria-label': label,
      'aria-expanded': 'false',
    });
    const news = make('span', { class: 'news', hidden: '' });
    open.append(icon('M4 5h16v11H10l-4.5 4v-4H4z'), news);
    panel.append(close);
    root.append(panel, open);
    document.body.append(host);

    let frame = null;
    let isReady = false;
    let wantsFocus = false;
    const isOpen = () => !panel.hidden;

    function showNews(isThere) {
      news.hidden = !isThere;
      open.setAttribute('aria-label', isThere ? `${label}: ${words.news}` : label);
    }

    /** Puts the focus into the frame; the page in it knows where. */
    function giveFocus() {
      frame.focus();
      if (isReady) frame.contentWindow.postMessage('conversation-service:focus', origin);
    }

    function show({ takeFocus }) {
      panel.hidden = false;
      open.setAttribute('aria-expanded', 'true');
      showNews(false);
      memory.wasOpen = true;
      if (!frame) {
        frame = make('iframe', { src: address, title: label, loading: 'lazy' });
        panel.append(frame);
      }
      wantsFocus = takeFocus;
      if (takeFocus) giveFocus();
    }

    function hide() {
      const hadFocus = root.activeElement !== null;
      panel.hidden = true;
      open.setAttribute('aria-expanded', 'false');
      memory.wasOpen = false;
      if (hadFocus) open.focus();
    }

    open.addEventListener('click', () => (isOpen() ? hide() : show({ takeFocus: true })));
    close.addEventListener('click', hide);
    root.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && isOpen()) hide();
    });
    window.addEventListener('message', ({ source, origin: from, data }) => {
      if (!frame || source !== frame.contentWindow || from !== origin) return;
      if (data === 'conversation-service:ready') {
        isReady = true;
        if (isOpen() && wantsFocus) giveFocus();
      }
      if (data === 'conversation-service:close' && isOpen()) hide();
      if (data === 'conversation-service:message' && !isOpen()) showNews(true);
    });
    // Where an on-screen keyboard covers the page instead of shrinking it.
    window.visualViewport?.addEventListener('resize', () =>
      host.style.setProperty('--height', `${window.visualViewport.height}px`),
    );

    if (memory.wasOpen) show({ takeFocus: false });
  }

  if (document.body) mount();
  else document.addEventListener('DOMContentLoaded', mount, { once: true });
})();
