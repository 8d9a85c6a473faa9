import type { TriedStep } from '../../agent/tryAgent.ts';
import {
  isEnabled,
  LANGUAGES,
  paymentLinkPolicyOf,
  type AgentSettings,
  type Language,
  type PaymentLinkPolicy,
} from '../../domain/agentSettings.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import { MAX_MESSAGE_CHARACTERS } from '../../domain/message.ts';
import { field, formProblem, textArea, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField, teamPage } from '../layout.ts';
import { chatSection } from './chatSection.ts';
import { triedView } from './triedView.ts';

/** What decides for the agent, as members may know it. */
export interface ModelWords {
  /** `keyword`, or the configured model's name. */
  readonly name: string;
  /** Of the model's server; null for the built-in keyword agent. */
  readonly host: string | null;
}

export interface AgentPage {
  readonly settings: AgentSettings;
  readonly model: ModelWords;
  readonly liveTools: number;
  /** The service's address as others see it. */
  readonly baseUrl: string;
  readonly notice?: unknown;
  readonly values?: FormValues;
  readonly problems?: Problems;
  readonly tried?: {
    readonly text: string;
    readonly step: TriedStep | null;
    readonly problem?: string | undefined;
  };
}

/** How the agent presents itself, what answers, and a box to try it. */
export const agentPage = (signedIn: SignedIn, page: AgentPage): View =>
  teamPage(
    signedIn,
    { title: 'Agent', section: 'agent', notice: page.notice },
    html`
      <h1>Agent</h1>
      ${switchSection(signedIn, page)}
      ${modelSection(page)}
      ${trySection(signedIn, page)}
      ${settingsSection(signedIn, page)}
      ${chatSection(signedIn.workspace, page.baseUrl)}
    `,
  );

function switchSection(signedIn: SignedIn, { settings, model }: AgentPage): View {
  const isOn = isEnabled(settings, model.host !== null);
  return html`
    <section aria-labelledby="switch-title">
      <h2 id="switch-title">The agent is ${isOn ? html`<span class="badge good">on</span>` : html`<span class="badge">off</span>`}</h2>
      <p>
        ${
          isOn
            ? 'It answers what customers write, until a person takes a conversation over.'
            : 'New conversations wait under “With the agent”, and only workflows and people answer. Once it is on, it answers what customers write from then on.'
        }
        ${settings.enabled === null && !isOn ? ' Nobody has decided about it yet: it goes on by itself when a first tool goes live.' : null}
      </p>
      <form method="post" action="/agent/switch">
        ${csrfField(signedIn)}
        <input type="hidden" name="enabled" value=${isOn ? 'off' : 'on'} />
        <button class=${isOn ? 'secondary fit' : 'fit'}>${isOn ? 'Switch it off' : 'Switch it on'}</button>
      </form>
    </section>
  `;
}

const modelSection = ({ model, liveTools }: AgentPage): View => html`
  <section aria-labelledby="model-title">
    <h2 id="model-title">What answers</h2>
    ${
      model.host === null
        ? html`<p><strong>The built-in keyword agent.</strong> It chooses a live tool by its words, fills in arguments from the message, asks for what is missing, and hands over to a person when it is not sure. It is no language model; set <code>LLM_BASE_URL</code> and <code>LLM_MODEL</code> to have one answer.</p>`
        : html`<p><strong>${model.name}</strong> at <code>${model.host}</code>, from <code>LLM_MODEL</code> and <code>LLM_BASE_URL</code>.</p>`
    }
    <p>It can call ${liveTools === 0 ? 'no tool yet: none is live' : liveTools === 1 ? 'one live tool' : `${liveTools} live tools`}. <a href="/tools">Tools</a></p>
  </section>
`;

const trySection = (signedIn: SignedIn, { tried, settings }: AgentPage): View => html`
  <section id="try" aria-labelledby="try-title">
    <h2 id="try-title">Try it</h2>
    <p class="muted">Write as a customer would. The agent decides with the live tools and the saved settings, but no tool is called and no conversation is stored.</p>
    <form method="post" action="/agent/try" hx-swap="innerHTML show:#try:top" hx-disabled-elt="find button">
      ${csrfField(signedIn)}
      ${textArea({ name: 'text', label: 'Message of a customer', values: { text: tried?.text ?? '' }, problems: tried?.problem === undefined ? {} : { text: tried.problem }, attributes: { rows: 2, required: true, maxlength: MAX_MESSAGE_CHARACTERS, placeholder: 'Where is my order A-1042?' } })}
      <button class="fit">Try it</button>
    </form>
    <div aria-live="polite">${tried?.step ? triedView(tried.step, settings.name) : null}</div>
  </section>
`;

const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  es: 'Spanish',
  pt: 'Portuguese',
};

const PAYMENT_LINKS: readonly (readonly [PaymentLinkPolicy, string])[] = [
  ['off', 'Off'],
  ['ask', 'A person approves each'],
  ['allow', 'The agent makes them by itself'],
];

/** Settings as the form's texts. */
export const settingsValues = (settings: AgentSettings): FormValues => ({
  name: settings.name,
  greeting: settings.greeting,
  instructions: settings.instructions,
  preferred: settings.languages[0] ?? 'en',
  payment_links: paymentLinkPolicyOf(settings),
  ...Object.fromEntries(settings.languages.map((language) => [`language_${language}`, 'on'])),
});

function settingsSection(
  signedIn: SignedIn,
  { settings, model, values = settingsValues(settings), problems = {} }: AgentPage,
): View {
  return html`
    <section aria-labelledby="settings-title">
      <h2 id="settings-title">Settings</h2>
      ${formProblem(Object.keys(problems).length > 0 ? 'Correct what is marked below.' : undefined)}
      <form method="post" action="/agent">
        ${csrfField(signedIn)}
        ${field({ name: 'name', label: 'Name', values, problems, help: 'Customers see it beside what the agent writes.', attributes: { required: true, maxlength: 100, autocomplete: 'off' } })}
        ${textArea({ name: 'greeting', label: 'Greeting', values, problems, help: 'Begins the agent’s first message in each conversation. Empty for none.', attributes: { rows: 2, maxlength: 1000 } })}
        ${textArea({ name: 'instructions', label: 'Instructions', values, problems, help: `What the agent is for, what it knows, how it talks. ${model.host === null ? 'Only a language model reads them; the keyword agent does not.' : 'The model reads them at each step.'}`, attributes: { rows: 8, maxlength: 20_000 } })}
        <fieldset>
          <legend>Working languages</legend>
          ${LANGUAGES.map((language) => html`<label for=${`f-language_${language}`}><input type="checkbox" id=${`f-language_${language}`} name=${`language_${language}`} checked=${values[`language_${language}`] === 'on'} /> ${LANGUAGE_NAMES[language]}</label>`)}
          ${problems.languages === undefined ? null : html`<small id="p-languages" class="problem" role="alert">${problems.languages}</small>`}
        </fieldset>
        <label for="f-preferred">Preferred language</label>
        <select id="f-preferred" name="preferred" aria-describedby="h-preferred">
          ${LANGUAGES.map((language) => html`<option value=${language} selected=${values.preferred === language}>${LANGUAGE_NAMES[language]}</option>`)}
        </select>
        <small id="h-preferred">Used when a customer’s words do not show theirs.</small>
        <label for="f-payment_links">Payment links</label>
        <select id="f-payment_links" name="payment_links" aria-invalid=${problems.payment_links === undefined ? null : 'true'} aria-describedby=${problems.payment_links === undefined ? 'h-payment_links' : 'h-payment_links p-payment_links'}>
          ${PAYMENT_LINKS.map(([policy, label]) => html`<option value=${policy} selected=${values.payment_links === policy}>${label}</option>`)}
        </select>
        <small id="h-payment_links">Whether the agent may make payment links in a conversation. It can only once a provider is set up under <a href="/payments">Payments</a>.</small>
        ${problems.payment_links === undefined ? null : html`<small id="p-payment_links" class="problem" role="alert">${problems.payment_links}</small>`}
        <button class="fit">Save</button>
      </form>
    </section>
  `;
}
