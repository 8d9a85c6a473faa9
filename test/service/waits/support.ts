// Waits as a workflow has them: it opens one, rests, and goes on with what it collects.
import type { ApiAnswer } from '../../helpers/apiClient.ts';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import type { RestingExecution } from '../../helpers/restingExecution.ts';
import type { TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked at field by field
export type Json = any;

export interface Talk {
  readonly customer: ChatCustomer;
  readonly conversationId: string;
}

/** A customer of the web chat who has written once. */
export async function startTalk(
  { url }: Pick<TestService, 'url'>,
  claims: Json = {},
): Promise<Talk> {
  const customer = await chatCustomer(url, claims);
  const { conversation_id: conversationId } = await customer.write('Hello');
  return { customer, conversationId };
}

/** Asks the customer of a talk. @returns the wait */
export const askCustomer = async (
  { api }: Pick<TestService, 'api'>,
  { conversationId }: Pick<Talk, 'conversationId'>,
  { url }: Pick<RestingExecution, 'url'>,
  fields: Json = {},
): Promise<Json> =>
  opened(
    await api.post('/api/waits', {
      kind: 'reply',
      conversation_id: conversationId,
      message: 'What is your order number?',
      resume_url: url,
      ...fields,
    }),
  );

/** Asks the team. @returns the wait */
export const askTeam = async (
  { api }: Pick<TestService, 'api'>,
  { url }: Pick<RestingExecution, 'url'>,
  fields: Json = {},
): Promise<Json> =>
  opened(
    await api.post('/api/waits', {
      kind: 'decision',
      message: 'Refund 49 EUR?',
      resume_url: url,
      ...fields,
    }),
  );

function opened({ status, body }: ApiAnswer): Json {
  if (status !== 201) throw new Error(`not opened: ${JSON.stringify(body)}`);
  return body;
}

export const waitOf = async (
  { api }: Pick<TestService, 'api'>,
  { id }: { id: string },
): Promise<Json> => (await api.get(`/api/waits/${id}`)).body;

/** What an execution went on with, once it has. */
export const goesOn = (execution: RestingExecution): Promise<Json> =>
  waitFor('the execution to go on', () => execution.wentOnWith.at(0), { everyMs: 10 });

/** The texts that a customer sees, without their own. */
export const textsTo = async (customer: ChatCustomer): Promise<string[]> =>
  (await customer.read())
    .filter(({ from }: Json) => from !== 'customer')
    .map(({ text }: Json) => text as string);
