import { createHash } from 'node:crypto';
import { timestamp } from '../clock.ts';
import { inOneTransaction, type Deps } from '../deps.ts';

const REMEMBERED_MS = 24 * 60 * 60 * 1000;

/**
 * Runs a form's action once, even if the same form is sent several times within 24 hours: by a
 * double click, or by a reload. The action and the record of it are one transaction.
 * @param form what identifies the form, and its values: different values are a different form
 * @param run the action; returns an id
 * @returns the id that the first run returned
 */
export const onceForForm = (
  deps: Deps,
  workspace: { readonly id: string },
  form: readonly unknown[],
  run: (within: Deps) => Promise<string>,
): Promise<string> =>
  inOneTransaction(deps, async (within, tx) => {
    const key = createHash('sha256')
      .update(JSON.stringify([workspace.id, 'form', form]))
      .digest('hex');
    const now = deps.clock.now().getTime();
    const earlier = await tx.idempotentAnswers.get(key);
    if (earlier && Date.parse(earlier.expiresAt) > now)
      return deps.secrets.open(earlier.sealedBody);
    const id = await run(within);
    await tx.idempotentAnswers.put({
      id: key,
      kind: 'idempotent_answer',
      workspaceId: workspace.id,
      requestHash: key,
      status: 200,
      sealedBody: deps.secrets.seal(id),
      expiresAt: timestamp(new Date(now + REMEMBERED_MS)),
    });
    return id;
  });
