import { readFile } from 'node:fs/promises';

/** The bold words of the README's numbered list under a heading, without marks and full stop. */
export async function boldStepsOf(heading: string): Promise<string[]> {
  const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
  const section = readme.split(`\n${heading}\n`)[1]!.split(/\n##+ /)[0]!;
  return [...section.matchAll(/^\d+\. \*\*(.+?)\*\*/gms)].map(([, words]) =>
    words!.replace(/[`*]|\.$/g, '').replace(/\s+/g, ' '),
  );
}
