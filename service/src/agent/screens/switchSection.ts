import { badge, postButton } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import type { SignedIn } from '../../team/index.ts';
import { isEnabled } from '../agentSettings.ts';
import type { AgentParts } from './agentParts.ts';

/** Whether the agent is on, and the button for it. */
export function switchSection(signedIn: SignedIn, { settings }: AgentParts): View {
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
