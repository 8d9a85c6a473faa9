import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

interface PostFrom {
  readonly forwardedFor?: string;
  /** Default: an empty JSON object. */
  readonly form?: Record<string, string>;
}

/** A POST that comes from an address of this machine. @returns its status */
export async function postFrom(
  peer: string,
  url: string,
  { forwardedFor, form }: PostFrom,
): Promise<number> {
  const body = form === undefined ? '{}' : new URLSearchParams(form).toString();
  const outgoing = request(url, {
    method: 'POST',
    localAddress: peer,
    agent: false,
    headers: {
      'content-type': form === undefined ? 'application/json' : 'application/x-www-form-urlencoded',
      ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
    },
  });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  await text(answer);
  return answer.statusCode!;
}
