import type { TriedStep } from '../tryAgent.ts';
import {
  isEnabled,
  LANGUAGES,
  paymentLinkPolicyOf,
  type AgentSettings,
  type Language,
  type PaymentLinkPolicy,
} from '../agentSettings.ts';
import type { SignedIn, Workspace } from '../../team/index.ts';
import { MAX_MESSAGE_CHARACTERS } from '../../conversations/index.ts';
import { badge, copyButton, csrfField, postButton } from '../../platform/html/components.ts';
import {
  checkbox,
  field,
  fieldProblem,
  formProblems,
  newForm,
  select,
  textArea,
  type FormState,
  type FormValues,
} from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { triedView } from './triedView.ts';

/** The model that decides for the agent. */
export interface ModelInfo {
  /** `keyword`, or the configured model's name. */
  readonly name: string;
  /** The host of the model's server; null for the built-in keyword agent. */
  readonly host: string | null;
}

export interface AgentPage {
  readonly settings: AgentSettings;
  readonly model: ModelInfo;
  readonly liveTools: number;
  readonly publicUrl: string;
  readonly notice?: unknown;
  /** Settings that were refused. */
  readonly form?: FormState;
  readonly tried?: TriedMessage;
}

export interface TriedMessage {
  readonly form: FormState;
  /** What the agent would do; null when the message was refused. */
  readonly step: TriedStep | null;
}

/** Whether the agent is on, its model, a form to try it, its settings, and the chat. */
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
      ${chatSection(signedIn.workspace, page.publicUrl)}
    `,
  );

function switchSection(signedIn: SignedIn, { settings }: AgentPage): View {
  const isOn = isEnabled(settings);
  return html`
    <section aria-labelledby="switch-title">
      <h2 id="switch-title">The agent is ${isOn ? badge('on', 'good') : badge('off')}</h2>
      <p>
        ${
          isOn
            ? 'It answers customers until a person takes over the conversation.'
            : 'New conversations wait under “With the agent”, and only workflows and your team answer. Once you turn it on, it answers new messages from customers.'
        }
      </p>
      ${postButton(signedIn, {
        action: '/agent/switch',
        label: isOn ? 'Turn off' : 'Turn on',
        hidden: { enabled: isOn ? 'off' : 'on' },
        button: { class: isOn ? 'secondary fit' : 'fit' },
      })}
    </section>
  `;
}

const modelSection = ({ model, liveTools }: AgentPage): View => html`
  <section aria-labelledby="model-title">
    <h2 id="model-title">Model</h2>
    ${
      model.host === null
        ? html`<p><strong>Built-in keyword agent.</strong> It picks a live tool by its keywords and example phrases, takes the arguments from the message, and asks for what is missing. It calls a read-only tool directly and any other tool after the customer’s yes. It hands over to a person when it is not sure. It is not a language model. To use one, set <code>LLM_BASE_URL</code> and <code>LLM_MODEL</code>.</p>`
        : html`<p><strong>${model.name}</strong> at <code>${model.host}</code>, set by <code>LLM_MODEL</code> and <code>LLM_BASE_URL</code>.</p>`
    }
    <p>${LIVE_TOOLS[liveTools] ?? `It can call ${liveTools} live tools.`} <a href="/tools">Tools</a></p>
  </section>
`;

const LIVE_TOOLS = ['It cannot call any tools yet: none is live.', 'It can call 1 live tool.'];

const trySection = (signedIn: SignedIn, { tried, settings }: AgentPage): View => html`
  <section id="try" aria-labelledby="try-title">
    <h2 id="try-title">Try it</h2>
    <p class="muted">Write a message as a customer would. The agent uses the live tools and the saved settings, but no tool is called and nothing is stored.</p>
    <form method="post" action="/agent/try" hx-swap="innerHTML show:#try:top" hx-disabled-elt="find button">
      ${csrfField(signedIn)}
      ${textArea({
        name: 'text',
        label: 'Customer message',
        form: tried?.form ?? newForm(),
        attributes: {
          rows: 2,
          required: true,
          maxlength: MAX_MESSAGE_CHARACTERS,
          placeholder: 'Where is my order A-1042?',
        },
      })}
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

const PAYMENT_LINK_OPTIONS: readonly (readonly [PaymentLinkPolicy, string])[] = [
  ['off', 'Off'],
  ['ask', 'Ask a person to approve each link'],
  ['allow', 'Let the agent create links by itself'],
];

const settingsValues = (settings: AgentSettings): FormValues => ({
  name: settings.name,
  greeting: settings.greeting,
  instructions: settings.instructions,
  preferred: settings.languages[0] ?? 'en',
  payment_links: paymentLinkPolicyOf(settings),
  handover_phrases: (settings.handoverPhrases ?? []).join('\n'),
  ...Object.fromEntries(settings.languages.map((language) => [`language_${language}`, 'on'])),
});

function settingsSection(signedIn: SignedIn, { settings, model, ...page }: AgentPage): View {
  const form = page.form ?? newForm(settingsValues(settings));
  return html`
    <section aria-labelledby="settings-title">
      <h2 id="settings-title">Settings</h2>
      ${formProblems(form)}
      <form method="post" action="/agent">
        ${csrfField(signedIn)}
        ${field({
          name: 'name',
          label: 'Name',
          form,
          help: 'Customers see it next to the agent’s messages.',
          attributes: { required: true, maxlength: 100, autocomplete: 'off' },
        })}
        ${textArea({
          name: 'greeting',
          label: 'Greeting',
          form,
          help: 'Starts the agent’s first message in each conversation. Leave empty for none.',
          attributes: { rows: 2, maxlength: 1000 },
        })}
        ${textArea({
          name: 'instructions',
          label: 'Instructions',
          form,
          help: `What the agent is for, what it knows, and how it writes. ${model.host === null ? 'Only a language model uses them. The keyword agent does not.' : 'The model gets them with every request.'}`,
          attributes: { rows: 8, maxlength: 20_000 },
        })}
        <fieldset>
          <legend>Languages</legend>
          ${LANGUAGES.map((language) => checkbox({ name: `language_${language}`, label: LANGUAGE_NAMES[language], form }))}
          ${fieldProblem('languages', form)}
        </fieldset>
        ${select({
          name: 'preferred',
          label: 'Preferred language',
          form,
          options: LANGUAGES.map((language) => [language, LANGUAGE_NAMES[language]] as const),
          help: 'Used when the customer’s language is not clear.',
        })}
        ${select({
          name: 'payment_links',
          label: 'Payment links',
          form,
          options: PAYMENT_LINK_OPTIONS,
          help: html`Whether the agent can create payment links in a conversation. This needs a provider under <a href="/payments">Payments</a>.`,
        })}
        ${textArea({
          name: 'handover_phrases',
          label: 'Phrases that ask for a person',
          form,
          help: 'One per line. A message that contains one is handed over to a person. Common phrases in English, Spanish and Portuguese are built in.',
          attributes: { rows: 3 },
        })}
        <button class="fit">Save</button>
      </form>
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
      <p>Chat page: <a href=${chatUrl} hx-boost="false"><span id="chat-address">${chatUrl}</span></a> ${copyButton('chat-address', 'the chat page URL')}</p>
      <p>To add the chat to your website, paste this snippet. List the website’s origin in the setting <code>CHAT_FRAME_ORIGINS</code>.</p>
      <p><code id="chat-snippet">${snippet}</code> ${copyButton('chat-snippet', 'the snippet')}</p>
    </section>
  `;
}
