import { describe, expect, it } from '@jest/globals';
import { render } from 'preact-render-to-string';
import { breakable } from '../../../../service/src/platform/html/breakable.ts';
import { avatar } from '../../../../service/src/platform/html/components.ts';
import { html } from '../../../../service/src/platform/html/html.ts';

it.each([
  ['ana@example.com', 'ana@<wbr/>example.<wbr/>com'],
  ['https://example.com/hook', 'https://<wbr/>example.<wbr/>com/<wbr/>hook'],
  ['nowhere', 'nowhere'],
])('%s may break before its next word', (address, wanted) =>
  expect(render(html`<b>${breakable(address)}</b>`)).toBe(`<b>${wanted}</b>`),
);

describe('the picture of a name', () => {
  it.each([
    ['Maria del Mar', 'MM'],
    ['ana', 'A'],
    ['+442079460018', '18'],
    ['+44 20 7946 0018', '18'],
    ['(Bob)', 'B'],
    ['🙂', '?'],
  ])('of %s is %s', (name, initials) =>
    expect(render(html`<b>${avatar(name)}</b>`)).toContain(`>${initials}</span>`),
  );
});
