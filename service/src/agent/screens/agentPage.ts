import type { SignedIn } from '../../team/index.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { reloadsOn } from '../../platform/html/liveSection.ts';
import type { AgentPage, AgentParts } from './agentParts.ts';
import { brainSection } from './brainSection.ts';
import { chatSection } from './chatSection.ts';
import { settingsSection } from './settingsSection.ts';
import { switchSection } from './switchSection.ts';
import { triedPart, tryHint, trySection } from './trySection.ts';
import { turnsSection } from './turnsSection.ts';

/** Whether the agent is on, what decides for it, a form to try it, its turns, settings and chat. */
export const agentPage = (signedIn: SignedIn, page: AgentPage): View =>
  teamPage(
    signedIn,
    { title: 'Agent', section: 'agent', notice: page.notice },
    html`
      <h1>Agent</h1>
      <span hidden hx-get=${fragmentHref(page)} hx-trigger=${reloadsOn('agent')} hx-target="#agent-switch" hx-select="#agent-switch" hx-select-oob="#brain,#try-hint,#agent-turns,#tried" hx-swap="outerHTML show:none"></span>
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
