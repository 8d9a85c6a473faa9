// The tool screens, opened by a signed-in member, and the fields of their forms.
import { afterEach, beforeAll } from '@jest/globals';
import { MEMBER_ENV, signedInBrowser, type Browserless } from '../../../helpers/browserless.ts';
import { TOOL_TEST_ENV, type DefinedTool } from '../../../helpers/toolEndpoint.ts';
import { endpoint, removeTools, service, useToolService } from '../toolService.ts';

export const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(2)> \u202egnirts\u202c {{args.x}}`;

export let browser: Browserless;
let count = 0;

/** Opens the screens for the tests of a file, and removes the tools of each test. */
export function useToolScreens(): void {
  useToolService({ env: { ...MEMBER_ENV, ...TOOL_TEST_ENV } });
  beforeAll(signIn);
  afterEach(removeTools);
}

/** Signs in again: a restarted service has another port. */
export const signIn = async (): Promise<Browserless> =>
  (browser = await signedInBrowser(service.url));

export const newName = () => `look_up_${(count += 1)}`;

/** The form of a new Webhook tool, filled in. */
export const webhookForm = (more: Record<string, string> = {}): Record<string, string> => ({
  kind: 'Webhook',
  name: newName(),
  description: 'Finds an order by its number.',
  parameters_as: 'fields',
  ...row(0, { name: 'order_number', description: 'The order number', required: 'on' }),
  endpoint: `${endpoint.url}/orders`,
  timeout: '1',
  ...more,
});

/** The fields of one parameter's row. */
export const row = (number: number, { type = 'text', ...fields }: Record<string, string>) =>
  Object.fromEntries(
    Object.entries({ name: '', description: '', options: '', ...fields, type }).map(
      ([part, value]) => [`p${number}_${part}`, value],
    ),
  );

/** The form of a new HTTP tool, filled in. */
export const httpForm = (more: Record<string, string> = {}): Record<string, string> => {
  const { endpoint: _, ...form } = webhookForm();
  return {
    ...form,
    kind: 'HTTP',
    method: 'post',
    url: `${endpoint.url}/orders/{{args.order_number}}`,
    query: 'limit=10',
    headers: 'Authorization: Bearer {{secrets.API_TOKEN}}\r\nX-Call: {{call.id}}',
    body: '{"order": "{{args.order_number}}"}',
    response_fields: 'status',
    s0_name: 'API_TOKEN',
    s0_value: 'super-secret-value-1',
    ...more,
  };
};

export const newestTool = async () => (await service.api.get('/api/tools?limit=1')).body.data[0];

/** Makes a tool with its form. @returns the tool as the API shows it */
export async function create(form: Record<string, string>) {
  const page = await browser.post('/tools', form);
  if (page.status >= 400) throw new Error(page.text);
  return newestTool();
}

/** Makes a test call with the form that has a field for each argument. @returns the page after it */
export const testCall = (
  { id }: Pick<DefinedTool, 'id'>,
  fields: Record<string, string> = { a_order_number: '7' },
) => browser.post(`/tools/${id}/test`, { arguments_as: 'fields', ...fields });
