import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A workflow to paste into n8n. */
export interface ExampleWorkflow {
  /** Its file's name without `.json`. */
  readonly name: string;
  readonly title: string;
  readonly does: string;
  readonly needs: string;
  /** The file's text. */
  readonly json: string;
}

const CREDENTIAL = 'A Conversation Service API credential';
const MODEL = 'OpenAI or a server with the same API';

const ABOUT: readonly Pick<ExampleWorkflow, 'name' | 'does' | 'needs'>[] = [
  {
    name: 'after-hours-answer',
    does: 'Outside your opening hours, tells customers when you are back, once a day in each conversation. Agent and team go on as before.',
    needs: `${CREDENTIAL}, and your hours and time zone.`,
  },
  {
    name: 'urgent-to-the-team',
    does: 'Takes over conversations whose message sounds urgent, tells the customer that a person is coming, and notifies your team. It also reports when the agent asks for a person and when a colleague takes over.',
    needs: `${CREDENTIAL}, and your team’s chat in place of the last node.`,
  },
  {
    name: 'lead-to-crm',
    does: 'Sends a lead with name, email and phone to your CRM when a conversation qualifies.',
    needs: `${CREDENTIAL} whose key may read contact details in the clear, and your CRM in place of the last node.`,
  },
  {
    name: 'find-order-tool',
    does: 'Gives the agent a tool: when a customer asks about an order, the agent runs this workflow and answers with what it returns.',
    needs: `${CREDENTIAL}, the agent turned on, and your shop in place of the list of orders.`,
  },
  {
    name: 'payment-reminder',
    does: 'Sends qualified leads a payment link, reminds those who have not paid after two days, and thanks those who have.',
    needs: `${CREDENTIAL}, and a payment provider, set up under Payments.`,
  },
  {
    name: 'daily-summary',
    does: 'Writes a summary of the day’s conversations every evening: how many, on which channels, how they ended, and everybody who still waits.',
    needs: `${CREDENTIAL}, and your team’s chat in place of the last node.`,
  },
  {
    name: 'ai-agent',
    does: 'Makes n8n’s AI Agent the agent of all conversations, with a memory for each and a tool. It answers a burst of messages once, stays silent while a person has the conversation, and can ask for one.',
    needs: `${CREDENTIAL}, and one for ${MODEL}.`,
  },
  {
    name: 'triage',
    does: 'A model decides what each message is about: an AI Agent answers questions, and complaints go to a person. Outside opening hours, the customer is promised an answer. A mere “thank you” gets no reply.',
    needs: `${CREDENTIAL}, one for ${MODEL}, and your hours and time zone.`,
  },
  {
    name: 'refund',
    does: 'Asks the customer for the number of the order, and your team for permission to refund it. The workflow rests while it waits.',
    needs: `${CREDENTIAL}, and your shop in place of the list of orders.`,
  },
  {
    name: 'ai-agent-with-review',
    does: 'An AI Agent whose tool waits for your team: a colleague approves or rejects each refund, and the AI Agent reads the note.',
    needs: `${CREDENTIAL}, and one for ${MODEL}.`,
  },
];

/** The build copies the files beside the compiled code; the source reads them where they are. */
const folder = ['../../examples/', '../../../../examples/workflows/']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path));

function readExample(about: (typeof ABOUT)[number]): ExampleWorkflow {
  if (folder === undefined) throw new Error('The example workflows are missing. Build again.');
  const json = readFileSync(`${folder}${about.name}.json`, 'utf8');
  return { ...about, title: (JSON.parse(json) as { name: string }).name, json };
}

/** The example workflows, the simplest first. */
export const exampleWorkflows: readonly ExampleWorkflow[] = ABOUT.map(readExample);
