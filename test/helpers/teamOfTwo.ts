import { browserless, signedInBrowser, type Browserless } from './browserless.ts';
import type { TestService } from './service.ts';

export const BEN = { email: 'ben@example.com', password: 'a second good password' };

/** The first member, ana, and Ben, whom she invites, each in a browser of their own. */
export async function teamOfTwo(
  { url, api }: Pick<TestService, 'url' | 'api'>,
  role: 'owner' | 'member' = 'owner',
): Promise<{
  ana: Browserless;
  ben: Browserless;
  benId: string;
}> {
  const ana = await signedInBrowser(url);
  await ana.get('/team');
  const { html } = await ana.post('/team/invites', { note: 'Ben', role });
  const ben = browserless(url);
  const token = /join\?token=([\w-]+)/.exec(html)![1]!;
  await ben.post('/join', { ...BEN, token, name: 'Ben' });
  const { body } = await api.get('/api/members');
  const { id } = body.data.find(({ name }: { name: string }) => name === 'Ben');
  return { ana, ben, benId: id };
}
