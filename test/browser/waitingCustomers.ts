// Customers who wait for a person or for the team's decision.
import { chatCustomer } from '../helpers/apiClient.ts';
import { agentSays, ask, callIn, makeLive, type DefinedTool } from '../helpers/toolEndpoint.ts';
import type { Team } from './team.ts';

/** Turns the agent on, with a live tool whose calls wait for an approval. */
export async function startAgent({ endpoint, service }: Team): Promise<DefinedTool> {
  const tool = await endpoint.define(service.api, {
    name: 'cancel_order',
    parameters: { type: 'object', properties: { order: { type: 'string' } } },
    ask_before_running: true,
  });
  await makeLive(service.api, tool);
  return tool;
}

/** A customer whom the agent has handed over to the team. */
export async function customerWaitingForPerson({ service }: Team, claims: Record<string, unknown>) {
  const customer = await chatCustomer(service.url, claims);
  const { conversation_id: id } = await customer.write('Can I talk to a person, please?');
  await agentSays(customer);
  return { customer, id };
}

/** A customer whose tool call waits for an approval. */
export async function customerWaitingForApproval(
  { service }: Team,
  tool: DefinedTool,
  claims: Record<string, unknown>,
) {
  const { customer, conversationId: id } = await ask(service.url, tool, '20481', claims);
  await callIn(service.api, `conversation_id=${id}`, 'pending_approval');
  await agentSays(customer);
  return { customer, id };
}
