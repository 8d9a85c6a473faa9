// Customers who write to the team of a file, or wait for a person or for its decision.
import { chatCustomer } from '../helpers/apiClient.ts';
import { agentSays, ask, callIn, makeLive, type DefinedTool } from '../helpers/toolEndpoint.ts';
import { team } from './team.ts';

/** A customer who writes in the chat. */
export async function startConversation(name: string, text = 'Hello?') {
  const customer = await chatCustomer(team.service.url, { name });
  const { conversation_id: id } = await customer.write(text);
  return { customer, id, path: `/conversations/${id}` };
}

/** Turns the agent on, with a live tool whose calls wait for an approval. */
export async function startAgent(): Promise<DefinedTool> {
  const { endpoint, service } = team;
  const tool = await endpoint.define(service.api, {
    name: 'cancel_order',
    parameters: { type: 'object', properties: { order: { type: 'string' } } },
    ask_before_running: true,
  });
  await makeLive(service.api, tool);
  return tool;
}

/** A customer whom the agent has handed over to the team. */
export async function customerWaitingForPerson(claims: Record<string, unknown>) {
  const customer = await chatCustomer(team.service.url, claims);
  const { conversation_id: id } = await customer.write('Can I talk to a person, please?');
  await agentSays(customer);
  return { customer, id };
}

/** A customer whose tool call waits for an approval. */
export async function customerWaitingForApproval(
  tool: DefinedTool,
  claims: Record<string, unknown>,
) {
  const { customer, conversationId: id } = await ask(team.service.url, tool, '20481', claims);
  await callIn(team.service.api, `conversation_id=${id}`, 'pending_approval');
  await agentSays(customer);
  return { customer, id };
}
