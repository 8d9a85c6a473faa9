// A stage for the tests of triggers that answer calls of the service: a tool call, or a turn of the
// agent. Such a trigger answers without calling the service, so none runs here, and the tests sign
// the calls themselves.
import { afterAll, beforeAll } from '@jest/globals';
import { Agent } from 'undici';
import { sharedTestCa } from '../../helpers/tls.ts';
import { sendCall, type CallOptions } from './signedCalls.ts';
import {
  startWebhookHost,
  type Json,
  type Side,
  type TriggerOptions,
  type WebhookHost,
} from './webhookHost.ts';

const SECRET = 'whsec_c2VjcmV0';

export type SendOptions = CallOptions & { call?: Json | Json[] };

/** One stage for all tests of a file. @param newCall makes the call that is sent by default */
export function signedCallStage(newCall: () => Json) {
  let host: WebhookHost;
  let agent: Agent;
  beforeAll(async () => {
    const { ca } = await sharedTestCa();
    agent = new Agent({ connect: { ca } });
    host = await startWebhookHost(() => ({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k' }));
  });
  afterAll(async () => {
    await agent.destroy();
    await host.close();
  });
  return {
    addTrigger: (options: TriggerOptions) => host.addTrigger(options),
    /** Makes the side what it is after its activation: its URL answers, and its secret is stored. */
    register(side: Side, secret = SECRET): void {
      side.isRegistered = true;
      side.staticData = { 'node:Trigger': { secret } };
    },
    send: (side: Side, { call = newCall(), ...options }: SendOptions = {}) =>
      sendCall(side, { agent, secret: SECRET, body: JSON.stringify(call), ...options }),
  };
}
