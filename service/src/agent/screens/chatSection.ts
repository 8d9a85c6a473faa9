import { copyButton } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import type { Workspace } from '../../team/index.ts';

/** Where customers write, and how to add the chat to a website. */
export function chatSection({ slug }: Workspace, publicUrl: string): View {
  const chatUrl = `${publicUrl}/chat?workspace=${encodeURIComponent(slug)}`;
  const snippet = `<script src="${publicUrl}/chat/embed.js" data-workspace="${slug}" defer></script>`;
  return html`
    <section aria-labelledby="chat-title">
      <h2 id="chat-title">Web chat</h2>
      <p>Chat page: <a href=${chatUrl} hx-boost="false"><span id="chat-address">${chatUrl}</span></a> ${copyButton('chat-address', 'the chat page URL')}</p>
      <p>To add the chat to your website, paste this snippet. List the website’s origin in the setting <code>CHAT_FRAME_ORIGINS</code>.</p>
      <p><code id="chat-snippet">${snippet}</code> ${copyButton('chat-snippet', 'the snippet')}</p>
    </section>
  `;
}
