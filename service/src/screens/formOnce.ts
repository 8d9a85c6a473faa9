import { createHash } from 'node:crypto';
import { timestamp } from '../domain/clock.ts';
import type { Deps } from '../domain/deps.ts';
import { inOneTransaction } from '../domain/inOneTransaction.ts';
import type { Workspace } from '../domain/workspace.ts';

const KEPT_FOR_MS = 24 * 60 * 60 * 1000;

/**
 * Does what a form asks for once, however often the same form is sent within 24 hours: clicked
 * twice, sent again by a reload. What is done and that it was done are one transaction; a twin
 * waits for it.
 * @param form what makes it the same form; a form with another content is another one
 * @param run what is done; returns an id
 * @returns the id that the first time returned
 */
export const onceForForm = (
  deps: Deps,
  workspace: Workspace,
  form: readonly unknown[],
  run: (within: Deps) => Promise<string>,
): Promise<string> =>
  inOneTransaction(deps, async (within, tx) => {
    const id = createHash('sha256')
      .update(JSON.stringify([workspace.id, 'form', form]))
      .digest('hex');
    const now = deps.clock.now().getTime();
    const kept = await tx.idempotentAnswers.get(id);
    if (kept && Date.parse(kept.expiresAt) > now) return deps.secrets.open(kept.sealedBody);
    const body = await run(within);
    await tx.idempotentAnswers.put({
      id,
      kind: 'idempotent_answer',
      workspaceId: workspace.id,
      requestHash: id,
      status: 200,
      sealedBody: deps.secrets.seal(body),
      expiresAt: timestamp(new Date(now + KEPT_FOR_MS)),
    });
    return body;
  });
