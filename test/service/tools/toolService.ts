// A service whose tools call an endpoint of the tests, and what several suites do with its tools.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll } from '@jest/globals';
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../../helpers/service.ts';
import {
  startToolEndpoint,
  TOOL_TEST_ENV,
  type DefinedTool,
  type ToolEndpoint,
} from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';

export let service: TestService;
export let endpoint: ToolEndpoint;

/** Starts both for the tests of a file. */
export function useToolService({ env = TOOL_TEST_ENV, ...options }: TestServiceOptions = {}): void {
  beforeAll(async () => {
    endpoint = await startToolEndpoint();
    service = await startTestService({ ca: endpoint.ca, env, ...options });
  });
  afterAll(async () => {
    await service?.stop();
    await endpoint?.close();
  });
}

export async function removeTools(): Promise<void> {
  for (const { id } of (await service.api.get('/api/tools?limit=200')).body.data)
    await service.api.delete(`/api/tools/${id}`);
}

/** Names that the keyword agent tells apart. */
const NAMES = [
  'find_order',
  'book_table',
  'check_stock',
  'renew_passport',
  'track_parcel',
  'weigh_luggage',
  'print_invoice',
  'rent_bicycle',
  'water_garden',
  'paint_fence',
  'sell_guitar',
  'wash_window',
];
let count = 0;

/** The next of these names, and a path of its own. */
export function nextName() {
  const name = NAMES[count++ % NAMES.length]!;
  return { name, path: `/${name}/${count}` };
}

export type Kind = 'Webhook' | 'HTTP';

/** Defines a tool of the next name. */
export function defineTool(kind: Kind = 'Webhook', fields: object = {}): Promise<DefinedTool> {
  const { name, path } = nextName();
  const define = kind === 'Webhook' ? endpoint.define : endpoint.defineHttp;
  return define(service.api, { name, ...fields }, path);
}

/** The id of the call in each request to a tool, oldest first. */
export const callIdsAt = ({ envelopes, at }: ToolEndpoint, { path, secret }: DefinedTool) =>
  secret === null
    ? at(path).map(({ headers }) => String(headers['x-call']))
    : envelopes(path).map((envelope): string => envelope.tool_call_id);

/** Holds the next request to a path. @returns answers it */
export function holdNext(path: string) {
  let held: ServerResponse | undefined;
  endpoint.answer(path, (_request, response) => void (held = response));
  return async (status = 200) => {
    const response = await waitFor('the request', () => held, { everyMs: 5 });
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"ok":true}');
  };
}
