import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startServiceProcess, type ServiceProcess } from '../../helpers/serviceProcess.ts';
import { sharedTestCa, writeTlsFiles, type TlsFiles } from '../../helpers/tls.ts';
import { callIn, hang, startToolEndpoint, type ToolEndpoint } from '../../helpers/toolEndpoint.ts';
import { waitFor } from '../../helpers/waitFor.ts';

let tls: TlsFiles;
let service: ServiceProcess;
let endpoint: ToolEndpoint;

beforeAll(async () => {
  tls = await writeTlsFiles(await sharedTestCa());
  endpoint = await startToolEndpoint();
  service = await startServiceProcess({ caFile: tls.caFile, env: { TOOL_RETRY_DELAYS_MS: '10,20' } });
});
afterAll(async () => {
  await service?.close();
  await endpoint?.close();
  await tls?.remove();
});

// The time a stop gives is ten seconds: time itself is under test.
it('a process that is told to stop does not wait for a call without end; that goes on as after a crash', async () => {
  const hook = await endpoint.define(service.api, { name: 'find_order', timeout: 60 });
  const api = await endpoint.defineHttp(service.api, { name: 'book_table', timeout: 60 });
  endpoint.answer(hook.path, hang, 200);
  endpoint.answer(api.path, hang);
  for (const { id } of [hook, api]) void service.api.post(`/api/tools/${id}/test`, {}).catch(() => {});
  await waitFor('both calls', () => endpoint.requests.length === 2);
  const startedAt = performance.now();
  await service.restart();
  expect(performance.now() - startedAt).toBeLessThan(18_000);
  expect(await callIn(service.api, 'tool=find_order', 'succeeded')).toMatchObject({ attempts: 2 });
  expect(await callIn(service.api, 'tool=book_table', 'failed')).toMatchObject({ attempts: 1, error: { type: 'interrupted' } });
  expect([endpoint.at(hook.path).length, endpoint.at(api.path).length]).toEqual([2, 1]);
  const [first, second] = endpoint.envelopes(hook.path);
  expect(second).toEqual(first);
});
