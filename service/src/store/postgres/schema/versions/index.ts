import { generationTable, selectiveFields, type Migrations } from '../migrations.ts';
import { initial } from './0001_initial.ts';
import { contacts } from './0003_contacts.ts';
import { agentWebhooks } from './0004_agentWebhooks.ts';
import { typings } from './0005_typings.ts';
import { waits } from './0006_waits.ts';
import { search } from './0007_search.ts';
import { teamwork } from './0008_teamwork.ts';
import { overview } from './0009_overview.ts';
import { waitingSince } from './0012_waitingSince.ts';
import { waitingOfAll } from './0013_waitingOfAll.ts';
import { sharedGroups } from './0014_sharedGroups.ts';

/** The service's schema, from its first version to the present one. */
export const serviceMigrations: Migrations = {
  '0001_initial': initial,
  '0002_generation': generationTable,
  '0003_contacts': contacts,
  '0004_agentWebhooks': agentWebhooks,
  '0005_typings': typings,
  '0006_waits': waits,
  '0007_search': search,
  '0008_teamwork': teamwork,
  '0009_overview': overview,
  '0012_waitingSince': waitingSince,
  '0013_waitingOfAll': waitingOfAll,
  '0014_sharedGroups': sharedGroups,
  '0015_selectiveFields': selectiveFields,
};
