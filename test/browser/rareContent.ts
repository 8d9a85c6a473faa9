// What few pages need: a forgotten contact, links to join and to reset a password, and a key that has
// read contact details.
import { apiClient, chatCustomer } from '../helpers/apiClient.ts';
import type { Browserless } from '../helpers/browserless.ts';
import type { TestService } from '../helpers/service.ts';
import { teamOfTwo } from '../helpers/teamOfTwo.ts';

/** Its ids and paths. */
export interface RareContent {
  /** A contact whose data was removed. */
  readonly forgotten: string;
  readonly cannedReply: string;
  /** A key that has read contact details. */
  readonly revealing: string;
  /** An invitation that nobody has used yet. */
  readonly joinPath: string;
  /** The link by which Ben, a member, can choose another password. */
  readonly resetPath: string;
}

export async function addRareContent(service: TestService): Promise<RareContent> {
  const { ana, benId } = await teamOfTwo(service, 'member');
  const invited = await ana.post('/team/invites', { note: 'Cy', role: 'member' });
  const reset = await ana.post(`/team/members/${benId}/reset-password`);
  return {
    joinPath: getMatch(/\/join\?token=[\w-]+/, invited.html),
    resetPath: getMatch(/\/reset-password\?token=[\w.-]+/, reset.html),
    cannedReply: await addCannedReply(ana),
    revealing: await readContactDetails(service, ana),
    forgotten: await forgetSomebody(service, ana),
  };
}

async function addCannedReply(ana: Browserless): Promise<string> {
  const reply = { name: 'Opening hours', shortcut: 'hours', text: 'We are open from 9 to 18.' };
  await ana.get('/settings/canned-replies');
  const { html } = await ana.post('/settings/canned-replies', reply);
  return getMatch(/(?<=\/settings\/canned-replies\/)\w{10,}/, html);
}

/** @returns the key with which they were read */
async function readContactDetails({ url, api }: TestService, ana: Browserless): Promise<string> {
  await ana.get('/keys');
  const { html } = await ana.post('/keys', { name: 'CRM', reveal: 'on' });
  const { body } = await api.get('/api/contacts?limit=1');
  const key = apiClient(url, getMatch(/cs_live_\w{32}/, html));
  await key.get(`/api/contacts/${body.data[0].id}?reveal=true`);
  return getMatch(/(?<=\/keys\/)key_\w+(?=\/reveals)/, (await ana.get('/keys')).html);
}

async function forgetSomebody({ url }: TestService, ana: Browserless): Promise<string> {
  const leaving = await chatCustomer(url, { name: 'Lea Brandt', email: 'lea@example.com' });
  const { conversation_id: id } = await leaving.write('Please delete all that you have about me.');
  await ana.get(`/conversations/${id}/contact`);
  const { path } = await ana.post(`/conversations/${id}/forget`, { sure: 'on' });
  return getMatch(/(?<=^\/contacts\/)\w+/, path);
}

function getMatch(pattern: RegExp, text: string): string {
  const [first] = pattern.exec(text) ?? [];
  if (first === undefined) throw new Error(`${pattern} is not in: ${text.slice(0, 2000)}`);
  return first;
}
