// Stripe on this machine: Checkout Sessions and signed webhooks in the documented shapes, with
// Stripe's own strictness. docs.stripe.com: "Checkout Sessions", "Idempotent requests", "Errors",
// "Verify webhook signatures manually"
import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { respondJson } from './jsonServer.ts';
import { parseForm, type Form } from './stripeForm.ts';
import { sessionFault, type StripeFault } from './stripeSessionFault.ts';
import { listenTracked, type TrackedServer } from './trackedServer.ts';

/** The fields of a Checkout Session that are used here. */
interface StripeSession {
  readonly id: string;
  readonly object: 'checkout.session';
  readonly amount_total: number;
  readonly currency: string;
  readonly client_reference_id: string | null;
  readonly created: number;
  readonly expires_at: number;
  readonly livemode: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  readonly mode: 'payment';
  readonly payment_status: 'paid' | 'unpaid' | 'no_payment_required';
  readonly status: 'open' | 'complete' | 'expired';
  readonly success_url: string;
  readonly cancel_url: string | null;
  /** Null once it is complete or expired. */
  readonly url: string | null;
}

interface StripeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly form: Form;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * What happens to a request in place of Stripe's usual answer. `proceed` does what was asked and
 * returns that answer.
 */
type StripeScript = (
  res: ServerResponse,
  request: StripeRequest,
  proceed: () => Answer,
) => void | Promise<void>;

type StripeEventType =
  | 'checkout.session.completed'
  | 'checkout.session.async_payment_succeeded'
  | 'checkout.session.async_payment_failed'
  | 'checkout.session.expired';

interface WebhookTarget {
  readonly url: string;
  readonly secret: string;
}

export interface StripeWebhook {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface StripeServer extends TrackedServer {
  /** `http://127.0.0.1:<port>`, for STRIPE_API_URL. */
  readonly url: string;
  readonly secretKey: string;
  /** Every session, oldest first, as it stands now. */
  readonly sessions: readonly StripeSession[];
  /** Every request that came with a right key. */
  readonly requests: readonly StripeRequest[];
  /** The session made for a payment. @throws Error when there is none or more than one */
  sessionOf(paymentId: string): StripeSession;
  /** What happens to the next requests, in order. */
  answerWith(...scripts: StripeScript[]): void;
  /** What happens to every request from now on; null: Stripe's usual answer. */
  answerAll(script: StripeScript | null): void;
  /** From now on, changes of a session are sent there, as to an endpoint set in the dashboard. */
  sendWebhooksTo(target: WebhookTarget | null): void;
  /**
   * The customer pays, and a webhook says so. `async`: by bank debit, whose money comes later or
   * never.
   */
  pay(sessionId: string, how?: { async?: boolean }): Promise<void>;
  /** How a payment by bank debit ended. */
  settle(sessionId: string, outcome: 'succeeded' | 'failed'): Promise<void>;
  /** The session's time is over. */
  expire(sessionId: string): Promise<void>;
  /**
   * A webhook about a session as it stands now, signed; the same `id` again is the same event.
   * @param at when it was signed
   */
  webhook(
    sessionId: string,
    type: StripeEventType,
    secret: string,
    options?: { at?: Date; id?: string; data?: Record<string, unknown> },
  ): StripeWebhook;
}

interface StripeServerOptions {
  readonly secretKey?: string;
  readonly port?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const API_VERSION = '2026-10-28.endive';

/** Starts Stripe on a free port. */
export async function startStripeServer({
  secretKey = 'sk_test_51TestKeyOfNobody0000000000',
  port = 0,
  now = Date.now,
}: StripeServerOptions = {}): Promise<StripeServer> {
  const sessions = new Map<string, StripeSession>();
  const requests: StripeRequest[] = [];
  const answersByKey = new Map<string, { fingerprint: string; answer: Answer }>();
  const queue: StripeScript[] = [];
  let script: StripeScript | null = null;
  let target: WebhookTarget | null = null;
  let baseUrl = '';

  const current = (id: string): StripeSession | undefined => {
    const session = sessions.get(id);
    return session?.status === 'open' && session.expires_at * 1000 <= now()
      ? change(session, { status: 'expired', url: null })
      : session;
  };
  const change = (session: StripeSession, changes: Partial<StripeSession>): StripeSession => {
    const changed = { ...session, ...changes };
    sessions.set(session.id, changed);
    return changed;
  };
  const getSession = (id: string): StripeSession => {
    const session = current(id);
    if (!session) throw new Error(`there is no session ${id}`);
    return session;
  };

  const createSession = (form: Form): Answer => {
    const fault = sessionFault(form, now());
    if (fault) return refusal(400, fault);
    const item = (form.line_items as Form)['0'] as Form;
    const price = item.price_data as Form;
    const created = Math.floor(now() / 1000);
    const id = `cs_test_${randomBytes(24).toString('hex')}`;
    const session: StripeSession = {
      id,
      object: 'checkout.session',
      amount_total: Number(price.unit_amount) * Number(item.quantity),
      currency: String(price.currency),
      client_reference_id: (form.client_reference_id as string | undefined) ?? null,
      created,
      expires_at: form.expires_at === undefined ? created + 24 * 60 * 60 : Number(form.expires_at),
      livemode: false,
      metadata: (form.metadata as Record<string, string> | undefined) ?? {},
      mode: 'payment',
      payment_status: 'unpaid',
      status: 'open',
      success_url: String(form.success_url),
      cancel_url: (form.cancel_url as string | undefined) ?? null,
      url: `${baseUrl}/c/pay/${id}`,
    };
    sessions.set(id, session);
    return { status: 200, body: session };
  };

  const expireSession = (id: string): Answer => {
    const session = current(id);
    if (!session) return missing(id);
    if (session.status !== 'open') {
      return refusal(400, {
        message: `Only Checkout Sessions with a status in ["open"] can be expired. This Session has a status of \`${session.status}\`.`,
      });
    }
    return { status: 200, body: change(session, { status: 'expired', url: null }) };
  };

  const perform = ({ method, path, form }: StripeRequest): Answer => {
    const [, id, action] = /^\/v1\/checkout\/sessions(?:\/([^/]+))?(?:\/(expire))?$/.exec(path) ?? [
      null,
    ];
    if (id === null || !path.startsWith('/v1/checkout/sessions'))
      return refusal(404, { message: `Unrecognized request URL (${method}: ${path}).` });
    if (method === 'POST' && id === undefined) return createSession(form);
    if (method === 'POST' && action === 'expire') return expireSession(id!);
    if (method === 'GET' && id === undefined) {
      const data = [...sessions.keys()]
        .reverse()
        .slice(0, Number(form.limit ?? 10))
        .map(getSession);
      return {
        status: 200,
        body: {
          object: 'list',
          data,
          has_more: data.length < sessions.size,
          url: '/v1/checkout/sessions',
        },
      };
    }
    const session = current(id!);
    return session ? { status: 200, body: session } : missing(id!);
  };

  /** The same idempotency key gets the same answer again; refusals are not kept. */
  const once = (
    request: StripeRequest,
  ): { proceed: () => Answer } | { answer: Answer; isReplay: boolean } => {
    const key = request.headers['idempotency-key'];
    if (typeof key !== 'string') return { proceed: () => perform(request) };
    const fingerprint = `${request.path} ${JSON.stringify(request.form)}`;
    const before = answersByKey.get(key);
    if (before && before.fingerprint !== fingerprint) {
      const message = `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`;
      return { answer: refusal(400, { type: 'idempotency_error', message }), isReplay: false };
    }
    if (before) return { answer: before.answer, isReplay: true };
    return {
      proceed: () => {
        const answer = perform(request);
        if (answer.status < 400) answersByKey.set(key, { fingerprint, answer });
        return answer;
      },
    };
  };

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const url = new URL(req.url ?? '/', baseUrl);
    const body = await text(req);
    if (url.pathname.startsWith('/c/pay/'))
      return showPage(req, res, url.pathname.slice('/c/pay/'.length));
    const [, key] = /^Bearer (.+)$/.exec(req.headers.authorization ?? '') ?? [];
    if (key !== secretKey)
      return send(
        res,
        refusal(401, { message: `Invalid API Key provided: ${maskKey(key ?? '')}` }),
      );
    const request: StripeRequest = {
      method: req.method ?? '',
      path: url.pathname,
      headers: req.headers,
      form: parseForm(body === '' ? url.search.slice(1) : body),
    };
    requests.push(request);
    const due = once(request);
    const proceed = () => ('proceed' in due ? due.proceed() : due.answer);
    const next = queue.shift() ?? script;
    if (next) return next(res, request, proceed);
    send(
      res,
      proceed(),
      'isReplay' in due && due.isReplay ? { 'idempotent-replayed': 'true' } : {},
    );
  };

  /** Stripe's own page, as little of it as a customer needs. */
  const showPage = async (req: IncomingMessage, res: ServerResponse, id: string): Promise<void> => {
    const session = current(id);
    if (!session?.url)
      return void res
        .writeHead(404, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Stripe</title><p>This page is no longer available.');
    if (req.method === 'POST') {
      await api.pay(id);
      return void res.writeHead(303, { location: session.success_url }).end();
    }
    const back = session.cancel_url
      ? `<a href="${session.cancel_url.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">Back</a>`
      : '';
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    res.end(
      `<!doctype html><html lang="en"><title>Stripe Checkout</title><h1>${session.amount_total} ${session.currency}</h1><form method="post"><button>Pay</button></form>${back}</html>`,
    );
  };

  const tell = async (session: StripeSession, type: StripeEventType) => {
    if (!target) return;
    const { headers, body } = api.webhook(session.id, type, target.secret);
    // Stripe tries again for days; here an endpoint that cannot be reached is left alone.
    await fetch(target.url, { method: 'POST', headers, body }).then(
      (answer) => answer.body?.cancel(),
      () => undefined,
    );
  };

  const server = createServer((req, res) => void handle(req, res).catch(() => res.destroy()));
  const tracked = await listenTracked(server, port, '127.0.0.1');
  baseUrl = `http://127.0.0.1:${tracked.port}`;

  const api = {
    url: baseUrl,
    secretKey,
    get sessions() {
      return [...sessions.keys()].map(getSession);
    },
    requests,
    sessionOf(paymentId: string) {
      const found = [...sessions.values()].filter(
        ({ metadata }) => metadata.payment_id === paymentId,
      );
      if (found.length !== 1)
        throw new Error(`there are ${found.length} sessions for ${paymentId}`);
      return getSession(found[0]!.id);
    },
    answerWith: (...scripts: StripeScript[]) => void queue.push(...scripts),
    answerAll(next: StripeScript | null) {
      script = next;
    },
    sendWebhooksTo(next: WebhookTarget | null) {
      target = next;
    },
    async pay(sessionId: string, { async = false }: { async?: boolean } = {}) {
      const session = getSession(sessionId);
      if (session.status !== 'open') throw new Error(`session ${sessionId} is ${session.status}`);
      await tell(
        change(session, {
          status: 'complete',
          payment_status: async ? 'unpaid' : 'paid',
          url: null,
        }),
        'checkout.session.completed',
      );
    },
    async settle(sessionId: string, outcome: 'succeeded' | 'failed') {
      const session = getSession(sessionId);
      if (outcome === 'failed') return tell(session, 'checkout.session.async_payment_failed');
      await tell(
        change(session, { payment_status: 'paid' }),
        'checkout.session.async_payment_succeeded',
      );
    },
    async expire(sessionId: string) {
      await tell(
        change(getSession(sessionId), { status: 'expired', url: null }),
        'checkout.session.expired',
      );
    },
    webhook(
      sessionId: string,
      type: StripeEventType,
      secret: string,
      {
        at = new Date(now()),
        id = `evt_${randomBytes(12).toString('hex')}`,
        data = {},
      }: { at?: Date; id?: string; data?: Record<string, unknown> } = {},
    ): StripeWebhook {
      const event = {
        id,
        object: 'event',
        api_version: API_VERSION,
        created: Math.floor(now() / 1000),
        data: { object: { ...getSession(sessionId), ...data } },
        livemode: false,
        pending_webhooks: 1,
        request: { id: null, idempotency_key: null },
        type,
      };
      return signWebhook(JSON.stringify(event, null, 2), secret, at);
    },
  };
  return Object.defineProperties(tracked, Object.getOwnPropertyDescriptors(api)) as StripeServer;
}

/** Signs as "Verify webhook signatures manually" describes, without Stripe's package. */
export function signWebhook(body: string, secret: string, at: Date): StripeWebhook {
  const t = Math.floor(at.getTime() / 1000);
  const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
  return {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      'stripe-signature': `t=${t},v1=${v1}`,
    },
    body,
  };
}

// --- Answers ---------------------------------------------------------------

const send = (
  res: ServerResponse,
  { status, body }: Answer,
  headers: Record<string, string> = {},
) =>
  respondJson(res, status, body, {
    'request-id': `req_${randomBytes(7).toString('hex')}`,
    ...headers,
  });

const refusal = (
  status: number,
  { type = 'invalid_request_error', ...fault }: StripeFault,
): Answer => ({ status, body: { error: { type, ...fault } } });
const missing = (id: string): Answer =>
  refusal(404, {
    code: 'resource_missing',
    message: `No such checkout.session: ${id}`,
    param: 'session',
  });
const maskKey = (key: string) =>
  `${key.slice(0, 8)}${'*'.repeat(Math.max(0, key.length - 12))}${key.slice(-4)}`;

/** Stripe's form of an error. */
export const stripeError =
  (
    status: number,
    fault: StripeFault = { type: 'api_error', message: `Error ${status}` },
    headers: Record<string, string> = {},
  ): StripeScript =>
  (res) =>
    send(res, refusal(status, fault), headers);

/** Stripe's fault in the middle of its work, which it keeps: the same key gets it again. */
export const replayedError = (status = 500): StripeScript =>
  stripeError(
    status,
    { type: 'api_error', message: 'Something went wrong.' },
    { 'idempotent-replayed': 'true', 'stripe-should-retry': 'false' },
  );

export const tooManyRequests = (): StripeScript =>
  stripeError(429, {
    type: 'invalid_request_error',
    code: 'rate_limit',
    message: 'Too many requests hit the API too quickly.',
  });

/** Never answers, and does nothing. */
export const hang = (): StripeScript => () => {};

/** Hangs up. */
export const hangUp = (): StripeScript => (res) => void res.destroy();

/** Does what was asked, and hangs up before it says so. */
export const loseAnswer = (): StripeScript => (res, _request, proceed) => {
  proceed();
  res.destroy();
};

export const notJson = (): StripeScript => (res) =>
  void res.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>');
