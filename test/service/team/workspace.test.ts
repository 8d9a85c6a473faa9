import { describe, expect, it } from '@jest/globals';
import { slugFrom } from '../../../service/src/team/workspace.ts';

describe('workspace slugs', () => {
  it.each([
    ['Acme & Söhne GmbH', 'acme-sohne-gmbh'],
    ['  --  ', 'workspace'],
    ['你好', 'workspace'],
    ['x'.repeat(90), 'x'.repeat(40)],
  ])('%s → %s', (name, slug) => expect(slugFrom(name)).toBe(slug));
});
