// The stage of triggers that answer calls: of tools, and of the agent's turns. A trigger calls no
// service then, so none runs here: calls are signed by hand.
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
    /** Has n8n know the side's address and its secret. */
    register(side: Side, secret = SECRET): void {
      side.isRegistered = true;
      side.staticData = { 'node:Trigger': { secret } };
    },
    send: (side: Side, { call = newCall(), ...options }: SendOptions = {}) =>
      sendCall(side, { agent, secret: SECRET, body: JSON.stringify(call), ...options }),
  };
}
