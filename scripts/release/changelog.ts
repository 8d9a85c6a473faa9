// The changelog: what is not released yet, and the notes of a release.

export interface Section {
  readonly name: string;
  readonly date: string | null;
  readonly text: string;
}

/** `## [0.2.0] - 2026-11-25`, `## [0.2.0] - Unreleased` or `## [Unreleased]` */
const HEADING = /^## \[([^\]]+)\](?: - (\S+))?$/;

/** @returns each section's name, date (null without one) and text, the newest first */
export function sectionsOf(changelog: string): Section[] {
  const sections: { name: string; date: string | null; lines: string[] }[] = [];
  for (const line of changelog.split('\n')) {
    const heading = HEADING.exec(line);
    if (heading) sections.push({ name: heading[1]!, date: heading[2] ?? null, lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ lines, ...heading }) => ({ ...heading, text: lines.join('\n').trim() }));
}

const isUnreleased = ({ name, date }: Section) => name === 'Unreleased' || date === 'Unreleased';

/**
 * The section that the next release is made of.
 * @throws Error when there is none, or nothing is in it
 */
export function unreleasedOf(changelog: string): Section & { readonly version: string | null } {
  const [first] = sectionsOf(changelog);
  if (first === undefined || !isUnreleased(first))
    throw new Error('CHANGELOG.md has no unreleased section: begin it with "## [Unreleased]".');
  if (!/^- /m.test(first.text)) throw new Error('The unreleased section of CHANGELOG.md is empty.');
  return { ...first, version: first.name === 'Unreleased' ? null : first.name };
}

/** Gives the unreleased section its version and date. */
export const dated = (changelog: string, version: string, date: string): string =>
  changelog.replace(/^## \[[^\]]+\](?: - Unreleased)?$/m, `## [${version}] - ${date}`);

/**
 * The text of a version's section. Wrapped lines are joined: release pages break at each newline.
 * @param page the repository's address. With it, relative links lead to the files of that version: a
 * release page is in no folder
 */
export function notesOf(changelog: string, version: string, page?: string): string {
  const section = sectionsOf(changelog).find(({ name }) => name === version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}.`);
  const unbroken = section.text.replace(/\n {2}(?=\S)/g, ' ');
  const linked =
    page === undefined
      ? unbroken
      : unbroken.replace(/\]\((?!\w+:|#)/g, `](${page}/blob/v${version}/`);
  return `${linked}\n`;
}
