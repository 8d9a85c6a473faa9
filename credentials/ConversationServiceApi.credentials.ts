import type { IAuthenticate, Icon, ICredentialType, INodeProperties } from 'n8n-workflow';
import { UserError } from 'n8n-workflow';
import { isSafeForKey, parseUrl } from '../nodes/ConversationService/api/baseUrl';

/** The address of a Conversation Service and an API key for it; tested by the nodes. */
export class ConversationServiceApi implements ICredentialType {
	name = 'conversationServiceApi';

	displayName = 'Conversation Service API';

	icon: Icon = {
		light: 'file:../nodes/ConversationService/conversationService.svg',
		dark: 'file:../nodes/ConversationService/conversationService.dark.svg',
	};

	documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-conversation-service#install-in-n8n';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			required: true,
			default: 'http://localhost:3000',
			placeholder: 'e.g. https://conversations.example.com',
			description:
				'The address of Conversation Service, without /api. It must begin with https:// unless the host is local: localhost, 127.0.0.1, a name ending in .local, host.docker.internal, or the name of a container.',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			placeholder: 'cs_live_…',
			description:
				'Shown once, where it is made: on the Keys and subscriptions screen of the service (/keys at the base URL), or by the set-up link that its first start prints. On the command line, stop the service and run "npm run key -- create --name n8n" in its folder.',
		},
	];

	/** Adds the key. Refuses an address to which the key would cross a network unencrypted. */
	authenticate: IAuthenticate = async ({ apiKey }, request) => {
		// n8n's HTTP Request node gives the address as `uri`.
		const { baseURL, url: address, uri = address } = request as typeof request & { uri?: string };
		const url = parseUrl(uri, baseURL || undefined);
		if (!url) throw new UserError(`The address "${uri}" of the request is not a web address`);
		if (!isSafeForKey(url)) {
			throw new UserError(
				`The API key is sent over https:// only, because ${url.hostname} is not a local host`,
			);
		}
		return {
			...request,
			headers: { ...request.headers, Authorization: `Bearer ${String(apiKey).trim()}` },
		};
	};
}
