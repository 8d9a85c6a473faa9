import { Router } from 'express';
import type { Logger } from 'pino';
import type { Deps } from '../../platform/deps.ts';
import { pageFrom, pageJson } from '../../platform/http/page.ts';
import { serve } from '../../platform/http/serve.ts';
import { keyWith } from '../../team/index.ts';
import { getContact, listContacts, revealContact } from './contacts.ts';
import * as contract from './contract.ts';
import { contactJson, revealedContactJson } from './views.ts';

/** Lists and gets contacts, masked. `?reveal=true` shows the details, if the key may see them. */
export function contactsRouter(deps: Deps, log: Logger): Router {
  const router = Router();

  serve(router, deps, contract.listContacts, async ({ deps, caller, query }) =>
    pageJson(
      await listContacts(deps, caller.workspace, query.q ?? '', pageFrom(query)),
      contactJson,
    ),
  );

  serve(router, deps, contract.getContact, async ({ deps, caller, params, query }) => {
    const id = params.id!;
    if (query.reveal !== 'true') return contactJson(await getContact(deps, caller.workspace, id));
    const key = keyWith(caller, 'contacts:reveal');
    const view = await revealContact(deps, caller.workspace, id, key);
    log.info(
      { contact: id, key: key.id, workspace: caller.workspace.id },
      'contact details were read in the clear',
    );
    return revealedContactJson(view);
  });

  return router;
}
