import { describe, expect, it } from '@jest/globals';
import { html } from '../../../service/src/platform/html/html.ts';
import { newPageToken, newSetupToken } from '../../../service/src/platform/security/tokens.ts';
import { linkedText } from '../../../service/src/platform/html/linkedText.ts';
import { renderToString } from 'preact-render-to-string';

/** The addresses that became links. */
const linksIn = (text: string) =>
  [...renderToString(html`<p>${linkedText(text)}</p>` as never).matchAll(/<a href="([^"]*)"/g)].map(
    ([, address]) => address,
  );

describe('web addresses in a text', () => {
  it.each([
    ['https://example.com/a', ['https://example.com/a']],
    ['http://example.com, or HTTPS://EXAMPLE.ORG!', ['http://example.com', 'HTTPS://EXAMPLE.ORG']],
    ['(see https://example.com/a_(b))', ['https://example.com/a_(b)']],
    ['(https://example.com/a_(b)/c)', ['https://example.com/a_(b)/c']],
    ['“https://example.com/a”.', ['https://example.com/a']],
  ])('are links: %s', (text, links) => {
    expect(linksIn(text)).toEqual(links);
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'example.com',
    'https://',
    'https://paypal.com@evil.example/',
    'https://user:pass@evil.example/',
  ])('are the only links: %s', (text) => {
    expect(linksIn(text)).toEqual([]);
  });

  it('with a token of the service are links as a whole', () => {
    for (const newToken of [newPageToken, newSetupToken]) {
      const links = Array.from({ length: 1000 }, () => `https://example.com/pay/${newToken()}`);
      expect(linksIn(links.join(' '))).toEqual(links);
    }
  });

  it('end where a character is invisible or turns the direction', () => {
    expect(linksIn('https://example.com/\u202egnp.exe')).toEqual(['https://example.com/']);
  });

  it('are found in the time that the text’s length takes, whatever is in it', () => {
    const dots = `https://example.com/${'.'.repeat(100_000)}a`;
    const before = process.cpuUsage();
    expect(linksIn(dots)).toEqual([dots]);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000); // microseconds
  });
});
