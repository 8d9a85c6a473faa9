import { isRunning, type Workflow } from '../../n8nServer.ts';
import { ownWorkflow, type Stage } from '../../stage.ts';

// Each of these starts when a conversation opens, and puts out the answer in "Go on".

export const askTheCustomer = ownWorkflow('ask-the-customer');
export const askTheTeam = ownWorkflow('ask-the-team');
export const askUntilApproved = ownWorkflow('ask-until-approved');
export const reviewATool = ownWorkflow('review-a-tool');

/** A wait as the API shows it. */
export interface WaitJson {
  id: string;
  kind: 'reply' | 'decision';
  status: string;
  message: string;
  details: Record<string, unknown> | null;
  resume: {
    state: string;
    problem: string | null;
    attempts: { status: number | null; problem: string | null }[];
  };
}

/** What proofs of waiting workflows do and look at. */
export function waitActors(stage: () => Stage) {
  const api = () => stage().service.api;
  const wait = async (id: string) => (await api().get(`/api/waits/${id}`)).body as WaitJson;
  return {
    wait,
    /** Waits for the open wait of a conversation. */
    openWait: (conversationId: string, kind: WaitJson['kind'] = 'decision') =>
      stage().until(`an open wait of ${conversationId}`, async () => {
        const query = `status=open&kind=${kind}&conversation_id=${conversationId}`;
        return ((await api().get(`/api/waits?${query}`)).body.data as WaitJson[])[0];
      }),
    decide: (id: string, approved: boolean, note?: string) =>
      api().post(`/api/waits/${id}/decide`, { approved, note }),
    /** Waits until one of the workflow's executions rests. @returns its id */
    untilResting: (workflow: Workflow) =>
      stage().until(`"${workflow.name}" to rest`, async () => {
        const path = `/executions?workflowId=${workflow.id}&status=waiting`;
        return (await stage().n8n.api<{ data: { id: string }[] }>('GET', path)).data[0]?.id;
      }),
    /** Waits until the conversation's execution has ended. @returns what "Go on" got, or the error */
    output: (workflow: Workflow, conversationId: string) =>
      stage().until(`"${workflow.name}" to go on with ${conversationId}`, async () => {
        const [execution] = await stage().executionsOf(workflow, conversationId);
        const { status, error, output } = execution!;
        if (isRunning(execution!) || status === 'waiting') return null;
        return status === 'success' ? output['Go on']![0]! : { status, error };
      }) as Promise<Record<string, unknown>>,
    /** Waits until so many attempts were made to resume the execution of a wait. */
    untilAttempts: (id: string, count: number) =>
      stage().until(`${count} attempts to resume ${id}`, async () => {
        const { attempts } = (await wait(id)).resume;
        return attempts.length >= count && attempts;
      }),
  };
}
