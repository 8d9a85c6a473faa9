// Waits as a workflow uses them: it opens one, rests, and goes on with what it collects.
import { chatCustomer, type ApiAnswer, type ChatCustomer } from '../../helpers/apiClient.ts';
import { startExecutionHost, type RestingExecution } from '../../helpers/restingExecution.ts';
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked at field by field
export type Json = any;

export type WaitStage = Awaited<ReturnType<typeof startWaitStage>>;

/** A service, the n8n whose executions wait for it, and a clock that a test can set ahead. */
export async function startWaitStage(options: TestServiceOptions = {}) {
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const n8n = await startExecutionHost(() => service.api);
  const clock = { now: () => new Date(now()) };
  const service = await startTestService({ ca: n8n.ca, clock, ...options });
  return {
    service,
    n8n,
    get api() {
      return service.api;
    },
    get url() {
      return service.url;
    },
    /** What the service's clock says. */
    now,
    /** Sets the service's clock ahead. */
    pass: (ms: number) => void (aheadMs += ms),
    close: async () => {
      await service.stop();
      await n8n.close();
    },
  };
}

export interface Talk {
  readonly customer: ChatCustomer;
  readonly conversationId: string;
}

type HasApi = Pick<TestService, 'api'>;
type Resting = Pick<RestingExecution, 'url'>;

/** A customer of the web chat who has written once. */
export async function startTalk(
  { url }: Pick<TestService, 'url'>,
  claims: Json = {},
): Promise<Talk> {
  const customer = await chatCustomer(url, claims);
  const { conversation_id: conversationId } = await customer.write('Hello');
  return { customer, conversationId };
}

/** Tries to ask the team, unless `fields` say otherwise. @returns the service's answer */
export const postWait = (
  { api }: HasApi,
  { url }: Resting,
  fields: Json = {},
): Promise<ApiAnswer> =>
  api.post('/api/waits', {
    kind: 'decision',
    message: 'Refund 49 EUR?',
    resume_url: url,
    ...fields,
  });

/** Asks the team, unless `fields` say otherwise. @returns the wait */
export const askTeam = async (
  service: HasApi,
  execution: Resting,
  fields: Json = {},
): Promise<Json> => openedWait(await postWait(service, execution, fields));

function openedWait({ status, body }: ApiAnswer): Json {
  if (status !== 201) throw new Error(`not opened: ${JSON.stringify(body)}`);
  return body;
}

/** Asks the customer of a talk. @returns the wait */
export const askCustomer = async (
  service: HasApi,
  { conversationId }: Pick<Talk, 'conversationId'>,
  execution: Resting,
  fields: Json = {},
): Promise<Json> =>
  openedWait(
    await postWait(service, execution, {
      kind: 'reply',
      conversation_id: conversationId,
      message: 'What is your order number?',
      ...fields,
    }),
  );

/** Lets a new execution ask a new customer. */
export async function askNewCustomer(stage: WaitStage, fields: Json = {}) {
  const talk = await startTalk(stage);
  const execution = stage.n8n.execution();
  const wait = await askCustomer(stage, talk, execution, fields);
  return { talk, execution, wait };
}

export const waitOf = async ({ api }: HasApi, { id }: { id: string }): Promise<Json> =>
  (await api.get(`/api/waits/${id}`)).body;

/** Tries to decide a wait. @returns the service's answer */
export const decide = (
  { api }: HasApi,
  { id }: { id: string },
  decision: { approved: boolean; note?: string | null } = { approved: true },
): Promise<ApiAnswer> => api.post(`/api/waits/${id}/decide`, decision);

/** Waits until an execution goes on. @returns what it went on with */
export const goesOn = (execution: RestingExecution): Promise<Json> =>
  waitFor('the execution to go on', () => execution.wentOnWith.at(0), { everyMs: 10 });

/** The texts that a customer sees, without their own. */
export const textsTo = async (customer: ChatCustomer): Promise<string[]> =>
  (await customer.read())
    .filter(({ from }: Json) => from !== 'customer')
    .map(({ text }: Json) => text as string);
