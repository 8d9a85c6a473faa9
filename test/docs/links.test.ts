// Every link in a document, and every mention of a document in the code, leads somewhere.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const find = (pattern: string) =>
  globSync(pattern, {
    cwd: root,
    exclude: (name) => ['node_modules', 'dist'].includes(String(name)),
  });

const PAGES = [
  '*.md',
  'docs/**/*.md',
  'service/*.md',
  'examples/**/*.md',
  '.github/**/*.md',
].flatMap(find);

/** A heading's anchor, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const withoutCode = (text: string) => text.replace(/^```.*?^```/gms, '');
const headingsOf = (path: string): string[] =>
  [...withoutCode(read(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!);

/** The links and pictures of a page. */
const linksOf = (page: string): string[] =>
  [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    ([, link, picture]) => link ?? picture!,
  );

function isThere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || headingsOf(target).map(anchorOf).includes(anchor);
}

describe('links', () => {
  it.each(PAGES)('of %s lead to files and headings', (page) => {
    const links = linksOf(page).filter((link) => !/^https?:/.test(link));
    expect(links.filter((link) => !isThere(page, link))).toEqual([]);
  });

  it('show every picture in docs/screenshots', () => {
    const shown = PAGES.flatMap((page) => linksOf(page).map((link) => join(dirname(page), link)));
    expect(find('docs/screenshots/*').filter((picture) => !shown.includes(picture))).toEqual([]);
  });

  it('to the README from n8n lead to its headings', () => {
    const anchors = headingsOf('README.md').map(anchorOf);
    const files = ['nodes/**/*.{ts,json}', 'credentials/*.ts'].flatMap(find);
    const named = files.flatMap((file) =>
      [...read(file).matchAll(/n8n-nodes-conversation-service#([a-z0-9-]+)/g)].map(
        ([, anchor]) => anchor!,
      ),
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((anchor) => !anchors.includes(anchor))).toEqual([]);
  });
});

describe('documents that the code names', () => {
  const decisions = find('docs/decisions/*.md').map((path) => path.split('/').at(-1)!);
  const sources = [
    'service/src/**/*.ts',
    '{nodes,credentials,scripts,deploy}/**/*.{ts,mjs,json,sh,conf,service,target}',
    'test/**/*.ts',
    '.env.example',
    'compose.yaml',
  ].flatMap(find);

  it('are there, with their sections', () => {
    const missing = sources.flatMap((file) =>
      [...read(file).matchAll(/docs\/([a-z-]+\.md)(?:, "([^"]+)")?/g)]
        .filter(
          ([, page, section]) =>
            !existsSync(join(root, 'docs', page!)) ||
            (section !== undefined && !headingsOf(`docs/${page}`).includes(section)),
        )
        .map(([mention]) => ({ file, mention })),
    );
    expect(missing).toEqual([]);
  });

  it('include only decisions that exist; decisions are numbered without gaps', () => {
    const numbers = decisions.map((name) => name.slice(0, 4));
    expect(numbers.sort()).toEqual(numbers.map((_, index) => String(index + 1).padStart(4, '0')));
    const missing = sources.flatMap((file) =>
      [...read(file).matchAll(/[Dd]ecisions?[ /](\d{4}[a-z0-9-]*(?:\.md)?)/g)]
        .filter(([, name]) => !decisions.some((decision) => decision.startsWith(name!)))
        .map(([mention]) => ({ file, mention })),
    );
    expect(missing).toEqual([]);
  });
});
