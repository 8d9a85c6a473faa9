// A customer in the web chat, over the same endpoints that the chat page uses.
import { randomUUID } from 'node:crypto';
import { ApiFailure } from './serviceProcess.ts';

export interface Claims {
  name?: string;
  email?: string;
  phone?: string;
}

export interface ChatMessage {
  id: string;
  direction: 'inbound' | 'outbound';
  sender: { type: string; name: string };
  text: string;
}

export interface ChatCustomer {
  readonly contactId: string;
  /** Writes a message; the same client_message_id twice is one message. */
  write(text: string, clientMessageId?: string): Promise<{ conversation_id: string; message_id: string }>;
  /** Everything this customer can see, oldest first. */
  read(): Promise<ChatMessage[]>;
}

/** Opens a chat session with a service at `url`. */
export async function startChat(url: string, claims: Claims = {}): Promise<ChatCustomer> {
  const call = async <T>(method: string, path: string, token?: string, body?: unknown): Promise<T> => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const json: unknown = await answer.json();
    if (!answer.ok) throw new ApiFailure(answer.status, json, `${method} ${path}`);
    return json as T;
  };

  const session = await call<{ token: string; contact_id: string }>('POST', '/api/chat/sessions', undefined, claims);
  return {
    contactId: session.contact_id,
    write: (text, clientMessageId = randomUUID()) =>
      call('POST', '/api/chat/messages', session.token, { text, client_message_id: clientMessageId }),
    read: async () => (await call<{ data: ChatMessage[] }>('GET', '/api/chat/messages', session.token)).data,
  };
}
