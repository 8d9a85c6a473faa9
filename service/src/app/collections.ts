import { countingCollections } from '../platform/counting/count.ts';
import { presenceCollections } from '../inbox/presence/presenceStore.ts';
import { overviewCollections } from '../overview/overviewStore.ts';
import { platformCollections } from '../platform/platformStore.ts';
import { teamCollections } from '../team/teamStore.ts';
import { deliveryCollections } from '../deliveries/deliveryStore.ts';
import { conversationCollections } from '../conversations/conversationStore.ts';
import { channelCollections } from '../channels/channelStore.ts';
import { paymentCollections } from '../payments/paymentStore.ts';
import { toolCollections } from '../tools/toolStore.ts';
import { waitCollections } from '../waits/waitStore.ts';
import { agentCollections } from '../agent/agentStore.ts';
import type { ServiceSchema } from '../store/collections.ts';
import type { Document } from '../store/store.ts';

/** Every collection, with its indexes. */
export const collections: ServiceSchema = {
  ...platformCollections,
  ...countingCollections,
  ...teamCollections,
  ...deliveryCollections,
  ...conversationCollections,
  ...channelCollections,
  ...paymentCollections,
  ...toolCollections,
  ...waitCollections,
  ...agentCollections,
  ...presenceCollections,
  ...overviewCollections,
};

/** The workspace in whose share of memory a document counts; null when it counts in none. */
export const workspaceOf = (collection: string, document: Document): string | null =>
  collection === 'workspaces'
    ? document.id
    : ((document as { workspaceId?: string }).workspaceId ?? null);
