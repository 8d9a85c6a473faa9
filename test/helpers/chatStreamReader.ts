/** A message as the stream gave it. */
export interface Seen {
  readonly id: string;
  readonly text: string;
}

export interface ChatStreamReader {
  readonly response: Response;
  readonly seen: readonly Seen[];
  /**
   * What the stream told, in order: `typing`, `not typing`, `closed`, and the texts of messages.
   */
  readonly told: readonly string[];
  /** The stream's `retry` fields, in ms. */
  readonly retries: readonly number[];
  /** Settles when the stream has ended: true when it ended properly, false when it broke. */
  readonly ended: Promise<boolean>;
  close(): void;
}

/**
 * Reads the chat stream as a browser does, with fetch and an Authorization header.
 * @param onMessage is told each message once its event is whole
 */
export async function readChatStream(
  url: string,
  token: string,
  {
    lastEventId = null,
    onMessage = () => {},
    signal,
    headers = {},
  }: {
    lastEventId?: string | null;
    onMessage?: (message: Seen) => void;
    signal?: AbortSignal;
    headers?: Record<string, string>;
  } = {},
): Promise<ChatStreamReader> {
  const abort = new AbortController();
  const response = await fetch(`${url}/api/chat/stream`, {
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
    },
    signal: signal ? AbortSignal.any([signal, abort.signal]) : abort.signal,
  });
  const seen: Seen[] = [];
  const retries: number[] = [];
  const told: string[] = [];
  const read = async () => {
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(block)?.[1];
        const [id, data, retry] = [field('id'), field('data'), field('retry')];
        if (retry !== undefined) retries.push(Number(retry));
        if (data !== undefined && field('event') === 'typing')
          told.push(
            (JSON.parse(data) as { is_typing: boolean }).is_typing ? 'typing' : 'not typing',
          );
        if (data !== undefined && field('event') === 'closed') told.push('closed');
        if (id === undefined || data === undefined) continue;
        const message = { id, text: (JSON.parse(data) as Seen).text };
        seen.push(message);
        told.push(message.text);
        onMessage(message);
      }
    }
  };
  return {
    response,
    seen,
    told,
    retries,
    ended: read().then(
      () => true,
      () => false,
    ),
    close: () => abort.abort(),
  };
}
