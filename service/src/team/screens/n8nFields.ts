// The question where n8n runs, for the set-up form and the settings.
import {
  DEFAULT_N8N_PORT,
  originOnThisMachine,
  portOnThisMachine,
  readN8nOrigin,
} from '../n8nAddress.ts';
import type { N8nSetting } from '../n8nSetting.ts';
import { OutboundError } from '../../platform/outbound/outboundClient.ts';
import {
  field,
  fieldProblem,
  radio,
  type FormState,
  type FormValues,
  type Problems,
} from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';

/** @param origin null: n8n is at a public https address; undefined: nothing is chosen */
export function n8nFormValues(origin: string | null | undefined): FormValues {
  const values = { n8n_port: DEFAULT_N8N_PORT };
  if (origin === undefined) return values;
  if (origin === null) return { ...values, n8n: 'public' };
  const port = portOnThisMachine(origin);
  return port === null
    ? { ...values, n8n: 'private_network', n8n_address: origin }
    : { n8n: 'this_machine', n8n_port: port };
}

type N8nChoice =
  | {
      readonly ok: true;
      /** The origin of n8n; null at a public address. */ readonly data: string | null;
    }
  | { readonly ok: false; readonly problems: Problems };

const wrong = (name: string, problem: string): N8nChoice => ({
  ok: false,
  problems: { [name]: problem },
});

/** Reads the answer from a form and checks whether the service can open that address. */
export async function readN8nChoice(
  n8n: Pick<N8nSetting, 'check'>,
  values: FormValues,
): Promise<N8nChoice> {
  const { n8n: place, n8n_port: port = '', n8n_address: address = '' } = values;
  if (place === 'public') return { ok: true, data: null };
  if (place === 'this_machine')
    return isPort(port)
      ? { ok: true, data: new URL(originOnThisMachine(port)).origin }
      : wrong('n8n_port', 'Enter a port from 1 to 65535. n8n uses 5678 unless told otherwise.');
  if (place !== 'private_network') return wrong('n8n', 'Choose where n8n runs.');
  const origin = readN8nOrigin(address);
  if (origin === null)
    return wrong('n8n_address', 'Enter the address of n8n, such as http://192.168.1.20:5678.');
  try {
    await n8n.check(origin);
    return { ok: true, data: origin };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return wrong('n8n_address', refusalInWords(error, origin));
  }
}

const isPort = (text: string) =>
  /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;

function refusalInWords(error: OutboundError, origin: string): string {
  const { hostname } = new URL(origin);
  if (error.kind === 'not_https')
    return `${hostname} has a public address, which is called over https:// only. Enter it with https://.`;
  if (error.kind === 'blocked_address') return `${error.message} It cannot be opened.`;
  if (error.kind === 'unresolvable')
    return `${error.message} Check the name, start n8n if it is a container, or enter its IP address.`;
  return `${error.message} Try again.`;
}

const IN_A_CONTAINER =
  'If the service runs in a container, this machine is that container: choose a private network and enter the address at which it reaches n8n, such as http://host.docker.internal:5678.';

export const n8nFields = (form: FormState): View => html`
  <fieldset class="n8n-place">
    <legend>Where does n8n run?</legend>
    ${radio({ name: 'n8n', value: 'this_machine', label: 'On this machine', form })}
    <div class="details" data-place="this_machine">
      ${field({
        name: 'n8n_port',
        label: 'Port of n8n',
        form,
        help: `The service may then call n8n at localhost and this port, also over http://. ${IN_A_CONTAINER}`,
        attributes: { inputmode: 'numeric', maxlength: 5, autocomplete: 'off' },
      })}
    </div>
    ${radio({ name: 'n8n', value: 'private_network', label: 'In a private network', form })}
    <div class="details" data-place="private_network">
      ${field({
        name: 'n8n_address',
        label: 'Address of n8n',
        form,
        help: 'As it begins in the webhook URLs that n8n shows, such as http://192.168.1.20:5678. Only this host and port are opened. With http://, customers’ messages travel through that network unencrypted.',
        attributes: { inputmode: 'url', maxlength: 300, autocomplete: 'off', spellcheck: 'false' },
      })}
    </div>
    ${radio({ name: 'n8n', value: 'public', label: 'At a public https:// address', form })}
    ${fieldProblem('n8n', form)}
  </fieldset>
`;
