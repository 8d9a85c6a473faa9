import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../../helpers/apiClient.ts';
import { useService } from '../helpers/actions.ts';
import { runAction } from '../helpers/n8n.ts';
import { startWire, type Wire } from '../helpers/strangers.ts';

const MANY = 230;
const { service } = useService();
let wire: Wire;
beforeAll(async () => {
  for (let i = 0; i < MANY; i += 1) await (await chatCustomer(service().url)).write('Hi');
  wire = await startWire(() => service().url);
});
afterAll(() => wire.close());

/** Gets many conversations. @returns their ids, and what each request asked for */
async function getMany(parameters: Record<string, unknown>) {
  wire.seen.length = 0;
  const { items, paired } = await runAction({
    credential: { baseUrl: wire.url, apiKey: service().apiKey },
    resource: 'conversation',
    operation: 'getAll',
    parameters: parameters as never,
  });
  const limits = wire.seen.map(({ path }) => new URL(path, wire.url).searchParams.get('limit'));
  return { ids: items.map(({ id }) => id), paired, limits };
}

describe('Get Many', () => {
  it('returns all, each once, page by page', async () => {
    const { ids, paired, limits } = await getMany({ returnAll: true });
    expect(new Set(ids).size).toBe(MANY);
    expect(ids).toHaveLength(MANY);
    expect(paired.at(-1)).toEqual({ item: 0 });
    expect(limits).toEqual(['200', '200']);
  });

  it.each([
    [1, ['1']],
    [200, ['200']],
    [210, ['200', '10']],
    [1000, ['200', '200']],
  ])('with the limit %s makes the requests %j', async (limit, expected) => {
    const { ids, limits } = await getMany({ limit });
    expect(ids).toHaveLength(Math.min(limit, MANY));
    expect(limits).toEqual(expected);
  });
});
