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

const ABOUT: readonly Pick<ExampleWorkflow, 'name' | 'does' | 'needs'>[] = [
  {
    name: 'urgent-to-the-team',
    does: 'Takes over conversations whose message sounds urgent, tells the customer that a person is coming, and notifies your team. It also reports when the agent asks for a person and when a colleague takes over.',
    needs: `${CREDENTIAL}, and the node of your team’s chat in place of the last one.`,
  },
  {
    name: 'lead-to-crm',
    does: 'Sends a lead with name, phone and email to your CRM when a conversation qualifies.',
    needs: `${CREDENTIAL} whose key may see contact details, and the node of your CRM in place of the last one.`,
  },
  {
    name: 'find-order-tool',
    does: 'Gives the agent a tool: when a customer asks for an order, the agent runs this workflow and answers with what it returns.',
    needs: `${CREDENTIAL}. Turn the agent on, and replace the list of orders with your shop’s.`,
  },
  {
    name: 'payment-reminder',
    does: 'Sends qualified leads a payment link, reminds those who have not paid after two days, and thanks those who have.',
    needs: `${CREDENTIAL}, and a payment provider, set up under Payments.`,
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
