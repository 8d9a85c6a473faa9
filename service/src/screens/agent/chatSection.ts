import type { Workspace } from '../../domain/workspace.ts';
import { html, type View } from '../html.ts';

/**
 * Where customers write, and how the chat comes onto a page of one's own. @param baseUrl the
 * service's address as others see it
 */
export function chatSection({ slug }: Workspace, baseUrl: string): View {
  const address = `${baseUrl}/chat?workspace=${encodeURIComponent(slug)}`;
  const snippet = `<script src="${baseUrl}/chat/embed.js" data-workspace="${slug}" defer></script>`;
  return html`
    <section aria-labelledby="chat-title">
      <h2 id="chat-title">Where customers write</h2>
      <p>On the chat page: <a href=${address} hx-boost="false"><span id="chat-address">${address}</span></a> <button class="small" type="button" data-copy="#chat-address" aria-label="Copy the address of the chat">Copy</button></p>
      <p>Or on a page of your own, with this line (its origin must stand in the service's setting <code>CHAT_FRAME_ORIGINS</code>):</p>
      <p><code id="chat-snippet">${snippet}</code> <button class="small" type="button" data-copy="#chat-snippet" aria-label="Copy the line for your page">Copy</button></p>
    </section>
  `;
}
