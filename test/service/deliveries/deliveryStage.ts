import { afterEach, beforeEach, expect } from '@jest/globals';
import { chatCustomer, type ChatCustomer } from '../../helpers/apiClient.ts';
import {
  signatureFault,
  startEventReceiver,
  type EventReceiver,
} from '../../helpers/eventReceiver.ts';
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../../helpers/service.ts';
import type { ReceiverHandler } from '../../helpers/tls.ts';
import { waitFor } from '../../helpers/waitFor.ts';

export const EVENT = 'message.received';
export const MINUTE_MS = 60_000;
export const SECOND_MS = 1000;

/** A subscription with its secret. */
export interface Made {
  readonly id: string;
  readonly secret: string;
  readonly revision: number;
}

export const status =
  (code: number): ReceiverHandler =>
  (_request, response) =>
    void response.writeHead(code).end(`answer ${code}`);

export const breakOff: ReceiverHandler = (_request, _response, raw) => void raw.socket.destroy();

/**
 * A service, a receiver of its events and a customer who writes, new for each test; the clock can
 * be moved forward.
 */
export function deliveryStage() {
  let service: TestService;
  let receiver: EventReceiver;
  let customer: ChatCustomer;
  let skewMs = 0;
  const clock = {
    now: () => new Date(Date.now() + skewMs),
    advance: (ms: number) => void (skewMs += ms),
  };
  const stage = {
    clock,
    /** What the receiver does with its requests; 200 when it is null. */
    answer: null as ReceiverHandler | null,
    get service() {
      return service;
    },
    get receiver() {
      return receiver;
    },
    async start(options: TestServiceOptions = {}) {
      service = await startTestService({ ca: receiver.ca, clock, ...options });
      customer = await chatCustomer(service.url);
    },
    async restart() {
      await service.restart();
      customer = await chatCustomer(service.url);
    },
    async subscribe(
      wanted: {
        event?: string;
        events?: readonly string[];
        filter?: object;
        target_url?: string;
        source?: string;
        catch_up?: boolean;
      } = {},
    ): Promise<Made> {
      const { status: code, body } = await service.api.post('/api/hooks', {
        ...(wanted.events ? {} : { event: EVENT }),
        target_url: `${receiver.url}/events`,
        source: 'n8n',
        ...wanted,
      });
      expect({ code, body }).toMatchObject({ code: 201 });
      return body;
    },
    remove: async ({ id }: Made, query = '') =>
      expect((await service.api.delete(`/api/hooks/${id}${query}`)).status).toBe(200),
    deliveries: async ({ id }: Made, query = '') =>
      (await service.api.get(`/api/hooks/${id}/deliveries${query}`)).body.data,
    async write(...texts: string[]) {
      for (const text of texts) await customer.write(text);
    },
    /**
     * Makes an event and waits until its attempt is under way.
     * @returns a function that answers that attempt; later ones get a 200
     */
    async holdAttempt() {
      let held: Parameters<ReceiverHandler> | undefined;
      stage.answer = (...each) => void (held = each);
      await stage.write('under way');
      await waitFor('the attempt', () => held !== undefined);
      stage.answer = null;
      return (answer: ReceiverHandler) => answer(...held!);
    },
    /** The texts of the messages received, in the order of arrival. */
    texts: () => receiver.payloads().map((payload) => payload.message.text as string),
    received: (count: number) =>
      waitFor(`${count} requests`, () => receiver.requests.length >= count),
    delivered: (made: Made, count: number) =>
      waitFor(
        `${count} delivered`,
        async () => (await stage.deliveries(made, '?limit=200&status=delivered')).length === count,
      ),
    isSignedBy: (made: Made, nth: number) =>
      signatureFault(receiver.requests[nth]!, made.secret, clock.now().getTime()) === null,
    /**
     * Waits until the delivery loop has looked at all that is due at least twice: each time, a test
     * event arrives at another address.
     */
    async loopHasTurned() {
      const other = await startEventReceiver();
      try {
        const { id } = (
          await service.api.post('/api/hooks', {
            event: 'message.sent',
            target_url: `${other.url}/other`,
            source: 'other',
          })
        ).body;
        for (const nth of [1, 2]) {
          // longer than the loop leaves a removed subscription alone
          await new Promise((resolve) => setTimeout(resolve, 600));
          await service.api.post(`/api/hooks/${id}/test`);
          await waitFor('a test event', () => other.requests.length === nth);
        }
        await service.api.delete(`/api/hooks/${id}?pending=cancel`);
      } finally {
        await other.close();
      }
    },
  };
  beforeEach(async () => {
    stage.answer = null;
    skewMs = 0;
    receiver = await startEventReceiver((request, response, raw) =>
      (stage.answer ?? status(200))(request, response, raw),
    );
  });
  afterEach(async () => {
    await service?.stop();
    await receiver?.close();
  });
  return stage;
}
