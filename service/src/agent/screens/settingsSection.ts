import { csrfField } from '../../platform/html/components.ts';
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
import { isOwner, memberNote, type SignedIn } from '../../team/index.ts';
import {
  LANGUAGE_NAMES,
  LANGUAGES,
  MAX_AGENT_NAME_CHARACTERS,
  MAX_GREETING_CHARACTERS,
  MAX_INSTRUCTIONS_CHARACTERS,
  paymentLinkPolicyOf,
  usesWebhook,
  type AgentSettings,
  type PaymentLinkPolicy,
} from '../agentSettings.ts';
import type { AgentPage, AgentParts } from './agentParts.ts';

const PAYMENT_LINK_OPTIONS: readonly (readonly [PaymentLinkPolicy, string])[] = [
  ['off', 'Off'],
  ['ask', 'Ask a person to approve each link'],
  ['allow', 'Let the agent create links by itself'],
];

/** The agent's settings: a form for an owner, a list for other members. */
export const settingsSection = (signedIn: SignedIn, page: AgentPage): View => html`
  <section aria-labelledby="settings-title">
    <h2 id="settings-title">Settings</h2>
    ${memberNote(signedIn, 'An owner can change these settings.')}
    ${isOwner(signedIn.member) ? settingsForm(signedIn, page) : settingsFacts(page.settings)}
  </section>
`;

function settingsForm(signedIn: SignedIn, page: AgentPage): View {
  const form = page.form ?? newForm(settingsValues(page.settings));
  return html`
    ${formProblems(form)}
    <form method="post" action="/agent">
      ${csrfField(signedIn)}
      ${textFields(form, page)}
      ${languageFields(form)}
      ${paymentLinksField(form)}
      ${phrasesField(form)}
      <button class="fit">Save</button>
    </form>
  `;
}

function settingsFacts(settings: AgentSettings): View {
  const { name, greeting, instructions, languages, handoverPhrases = [] } = settings;
  const [preferred = 'en'] = languages;
  return html`
    <dl class="facts-list">
      <dt>Name</dt><dd><bdi>${name}</bdi></dd>
      <dt>Greeting</dt><dd class="as-written">${greeting === '' ? 'none' : greeting}</dd>
      <dt>Instructions</dt>
      <dd class="as-written">${instructions === '' ? 'none' : instructions}</dd>
      <dt>Languages</dt><dd>${languages.map((each) => LANGUAGE_NAMES[each]).join(', ')}</dd>
      <dt>Preferred language</dt><dd>${LANGUAGE_NAMES[preferred]}</dd>
      <dt>Payment links</dt><dd>${paymentLinksInWords(settings)}</dd>
      <dt>Phrases that ask for a person</dt>
      <dd>${handoverPhrases.join(' · ') || 'only those built in'}</dd>
    </dl>
  `;
}

function paymentLinksInWords(settings: AgentSettings): string {
  const policy = paymentLinkPolicyOf(settings);
  return PAYMENT_LINK_OPTIONS.find(([each]) => each === policy)![1];
}

const settingsValues = (settings: AgentSettings): FormValues => ({
  name: settings.name,
  greeting: settings.greeting,
  instructions: settings.instructions,
  preferred: settings.languages[0] ?? 'en',
  payment_links: paymentLinkPolicyOf(settings),
  handover_phrases: (settings.handoverPhrases ?? []).join('\n'),
  ...Object.fromEntries(settings.languages.map((language) => [`language_${language}`, 'on'])),
});

const textFields = (form: FormState, parts: AgentParts): View => html`
  ${field({
    name: 'name',
    label: 'Name',
    form,
    help: 'Customers see it next to the agent’s messages.',
    attributes: { required: true, maxlength: MAX_AGENT_NAME_CHARACTERS, autocomplete: 'off' },
  })}
  ${textArea({
    name: 'greeting',
    label: 'Greeting',
    form,
    help: 'Starts the agent’s first message in each conversation. Leave empty for none.',
    attributes: { rows: 2, maxlength: MAX_GREETING_CHARACTERS },
  })}
  ${textArea({
    name: 'instructions',
    label: 'Instructions',
    form,
    help: `What the agent is for, what it knows, and how it writes. ${whoGetsInstructions(parts)}`,
    attributes: { rows: 8, maxlength: MAX_INSTRUCTIONS_CHARACTERS },
  })}
`;

const whoGetsInstructions = ({ settings, model }: AgentParts): string => {
  if (usesWebhook(settings)) return 'The workflow gets them with every turn.';
  return model.host === null
    ? 'Only a language model or a workflow uses them. The keyword agent does not.'
    : 'The model gets them with every request.';
};

const languageFields = (form: FormState): View => html`
  <fieldset>
    <legend>Languages</legend>
    ${LANGUAGES.map((language) =>
      checkbox({ name: `language_${language}`, label: LANGUAGE_NAMES[language], form }),
    )}
    ${fieldProblem('languages', form)}
  </fieldset>
  ${select({
    name: 'preferred',
    label: 'Preferred language',
    form,
    options: LANGUAGES.map((language) => [language, LANGUAGE_NAMES[language]] as const),
    help: 'Used when the customer’s language is not clear.',
  })}
`;

const paymentLinksField = (form: FormState): View =>
  select({
    name: 'payment_links',
    label: 'Payment links',
    form,
    options: PAYMENT_LINK_OPTIONS,
    help: html`Whether the agent can create payment links in a conversation. This needs a provider under <a href="/payments">Payments</a>.`,
  });

const phrasesField = (form: FormState): View =>
  textArea({
    name: 'handover_phrases',
    label: 'Phrases that ask for a person',
    form,
    help: 'One per line. When a customer’s message contains one, the conversation is handed over to a person. Common phrases in English, Spanish and Portuguese are built in.',
    attributes: { rows: 3 },
  });
