// How tests ask several processes at the same moment.
import { jest } from '@jest/globals';
import { apiClient, chatCustomer, type ApiAnswer } from '../../helpers/apiClient.ts';
import type { Cluster, ClusterProcess } from '../../helpers/cluster.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked at field by field in the tests
export type Json = any;

/** Several processes start in each file, on a machine that may be busy. */
export const allowSlowStarts = (): void => void jest.setTimeout(180_000);

export const rounds = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, n) => n);

/** The processes that answer requests. */
export const apisOf = ({ processes }: Cluster): readonly ClusterProcess[] =>
  processes.filter(({ role }) => role !== 'worker');

/**
 * Does something so many times at once, at each API process in turn. @returns the outcome of each, in
 * the order of n
 */
export const atOnce = <T>(
  cluster: Cluster,
  times: number,
  what: (process: ClusterProcess, n: number) => Promise<T>,
): Promise<T[]> => {
  const apis = apisOf(cluster);
  return Promise.all(rounds(times).map((n) => what(apis[n % apis.length]!, n)));
};

/** A visitor of the chat who reaches every process. */
export async function visitor(cluster: Cluster) {
  const { token } = await chatCustomer(apisOf(cluster)[0]!.url);
  const at = ({ url }: ClusterProcess) => apiClient(url, token);
  return {
    token,
    at,
    write: (process: ClusterProcess, text: string): Promise<ApiAnswer> =>
      at(process).post('/api/chat/messages', { text, client_message_id: text }),
  };
}

/** How often each status is there, or each error's code: `{ 201: 25, subscription_exists: 5 }`. */
export const outcomesOf = (answers: readonly ApiAnswer[]): Record<string, number> =>
  countBy(answers, ({ status, body }) => body.error?.code ?? status);

/** How often each value is there: `{ 201: 25, 409: 5 }`. */
export const countBy = <T>(
  all: readonly T[],
  of: (each: T) => string | number,
): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(all, (each) => String(of(each)))].map(([key, group]) => [key, group.length]),
  );
