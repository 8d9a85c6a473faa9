import { AREA_PERMISSIONS, type ApiKey, type AreaPermission } from '../../../team/index.ts';

type Area = AreaPermission extends `${infer Name}:${string}` ? Name : never;

export const AREA_LABELS: Readonly<Record<Area, string>> = {
  conversations: 'Conversations and contacts',
  subscriptions: 'Subscriptions and deliveries',
  tools: 'Tools and approvals',
  agent: 'Agent and its turns',
  waits: 'Waits',
  payments: 'Payments',
  channels: 'Channels',
};

export const READ_ONLY = AREA_PERMISSIONS.filter((each) => each.endsWith(':read'));

/** What a key may do: `All of the API`, or `Conversations and contacts, Waits (only reading)`. */
export function permissionsInWords({ limitedTo }: Pick<ApiKey, 'limitedTo'>): string {
  if (!limitedTo) return 'All of the API';
  const all = new Set(limitedTo);
  if (all.size === READ_ONLY.length && READ_ONLY.every((each) => all.has(each)))
    return 'All of the API, only reading';
  // Writing includes reading.
  const isIncluded = (each: AreaPermission) =>
    each.endsWith(':read') && all.has(each.replace(/:read$/, ':write') as AreaPermission);
  return [...all]
    .filter((each) => !isIncluded(each))
    .map((each) => {
      const [area, level] = each.split(':') as [Area, string];
      return level === 'read' ? `${AREA_LABELS[area]} (only reading)` : AREA_LABELS[area];
    })
    .join(', ');
}

export const mayReveal = ({ permissions = [] }: ApiKey): boolean =>
  permissions.includes('contacts:reveal');

export const shortForm = ({ prefix, lastFour }: ApiKey): string => `${prefix}…${lastFour}`;
