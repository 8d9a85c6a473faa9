import type { SignedIn, Workspace } from '../../team/index.ts';
import { badge, copyButton, postButton } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveParts } from '../../platform/html/liveSection.ts';
import { isEnabled } from '../agentSettings.ts';
import type { AgentPage, AgentParts } from './agentParts.ts';
import { brainSection } from './brainSection.ts';
import { settingsSection } from './settingsSection.ts';
import { triedPart, tryHint, trySection } from './trySection.ts';
import { turnsSection } from './turnsSection.ts';

/** Whether the agent is on, what decides for it, a form to try it, its turns, settings and chat. */
export const agentPage = (signedIn: SignedIn, page: AgentPage): View =>
  teamPage(
    signedIn,
    { title: 'Agent', section: 'agent', notice: page.notice },
    html`
      <h1>Agent</h1>
      ${liveParts('agent', fragmentHref(page), [
        'agent-switch',
        'brain',
        'try-hint',
        'agent-turns',
        'tried',
      ])}
      ${switchSection(signedIn, page)}
      ${brainSection(signedIn, page)}
      ${trySection(signedIn, page)}
      ${turnsSection(page)}
      ${settingsSection(signedIn, page)}
      ${chatSection(signedIn.workspace, page.publicUrl)}
    `,
  );

/** A message that was tried with a model is not stored, so the fragment leaves it alone. */
const fragmentHref = ({ triedTurn }: AgentPage): string =>
  triedTurn === null ? '/agent/fragment' : `/agent/fragment?turn=${triedTurn.id}`;

/** The parts of the page that live updates replace. */
export const livePartsOfAgent = (signedIn: SignedIn, parts: AgentParts): View => html`
  <div>
    ${switchSection(signedIn, parts)}
    ${brainSection(signedIn, parts)}
    ${tryHint(signedIn, parts)}
    ${turnsSection(parts)}
    ${parts.triedTurn === null ? null : triedPart(parts)}
  </div>
`;

/** Whether the agent is on, and the button for it. */
function switchSection(signedIn: SignedIn, { settings }: AgentParts): View {
  const isOn = isEnabled(settings);
  return html`
    <section id="agent-switch" aria-labelledby="switch-title">
      <h2 id="switch-title">The agent is ${isOn ? badge('on', 'good') : badge('off')}</h2>
      <p>
        ${
          isOn
            ? 'It answers customers until a person takes over the conversation.'
            : 'New conversations wait under “Waiting”, and only workflows and your team answer. Once it is turned on, it answers new messages from customers.'
        }
      </p>
      ${postButton(signedIn, {
        action: '/agent/switch',
        label: isOn ? 'Turn off' : 'Turn on',
        hidden: { enabled: isOn ? 'off' : 'on' },
        button: { id: 'agent-on-off', class: isOn ? 'secondary fit' : 'fit' },
      })}
    </section>
  `;
}

/** Where customers write, and how to add the chat to a website. */
function chatSection({ slug }: Workspace, publicUrl: string): View {
  const chatUrl = `${publicUrl}/chat?workspace=${encodeURIComponent(slug)}`;
  const snippet = `<script src="${publicUrl}/chat/embed.js" data-workspace="${slug}" defer></script>`;
  return html`
    <section aria-labelledby="chat-title">
      <h2 id="chat-title">Web chat</h2>
      <p>
        Chat page: <a href=${chatUrl} hx-boost="false">
          <span id="chat-address">${chatUrl}</span>
        </a> ${copyButton('chat-address', 'the chat page URL')}
      </p>
      <p>
        To add the chat to your website, paste this snippet. List the website’s origin in the setting <code>CHAT_FRAME_ORIGINS</code>.
      </p>
      <p><code id="chat-snippet">${snippet}</code> ${copyButton('chat-snippet', 'the snippet')}</p>
    </section>
  `;
}
