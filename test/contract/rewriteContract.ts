import { expect, it } from '@jest/globals';
import type { ContractStore, Thing } from './schema.ts';
import { all, put, thing } from './schema.ts';

/** What `rewrite` and `forgetHistory` promise. */
export const describeRewrite = (
  opened: () => { store: ContractStore; reopen: () => Promise<ContractStore> },
): void => {
  it('rewrites every document of every collection, and the changes survive a restart', async () => {
    const { store, reopen } = opened();
    await put(store, thing('a', { group: 'old' }), thing('b', { group: 'left' }));
    await store.transaction((tx) => tx.others.put({ id: 'o' }));
    const seen: string[] = [];
    await store.rewrite((document, collection) => {
      seen.push(`${collection} ${document.id}`);
      return (document as Thing).group === 'old'
        ? ({ ...document, group: 'new' } as Thing)
        : document;
    });
    expect(seen.sort()).toEqual(['others o', 'things a', 'things b']);
    expect(
      await store.transaction((tx) => tx.things.find({ where: { group: 'new' }, limit: 9 })),
    ).toEqual([thing('a', { group: 'new' })]);
    expect(await all(await reopen())).toEqual([
      thing('a', { group: 'new' }),
      thing('b', { group: 'left' }),
    ]);
  });

  it('rewrites nothing when one document cannot be changed', async () => {
    const { store, reopen } = opened();
    await put(store, thing('a'), thing('b'));
    const refuse = (document: { readonly id: string }) => {
      if (document.id === 'b') throw new Error('not this one');
      return { ...document, group: 'new' };
    };
    await expect(store.rewrite(refuse)).rejects.toThrow('not this one');
    expect(await all(store)).toEqual([thing('a'), thing('b')]);
    expect(await all(await reopen())).toEqual([thing('a'), thing('b')]);
  });

  it('works on after forgetHistory, and keeps its documents over a restart', async () => {
    const { store, reopen } = opened();
    await put(store, thing('a'));
    await store.forgetHistory();
    await put(store, thing('b'));
    expect(await all(await reopen())).toEqual([thing('a'), thing('b')]);
  });
};
