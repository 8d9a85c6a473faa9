import type { ApiClient } from './apiClient.ts';

/** Removes every subscription with its pending deliveries: the next test begins with none. */
export async function removeSubscriptions(api: ApiClient): Promise<void> {
  const { data } = (await api.get('/api/hooks?limit=200')).body;
  for (const { id } of data) await api.delete(`/api/hooks/${id}?pending=cancel`);
}
