// Reads a Dockerfile with what ours uses, so that tests check and run the lines themselves.

export interface Instruction {
  /** Upper case: COPY, RUN, … */
  readonly keyword: string;
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  /** An image, or an earlier stage's name. */
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

export function readDockerfile(text: string): Stage[] {
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const line of logicalLines(text)) {
    const [, keyword, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (keyword === undefined || rest === undefined) throw new Error(`not understood: ${line}`);
    if (keyword === 'FROM') {
      const [, base, name] = /^(\S+) AS (\S+)$/.exec(rest) ?? [];
      if (base === undefined || name === undefined) throw new Error(`not understood: ${line}`);
      stages.push({ name, base, instructions: [] });
    } else stages.at(-1)!.instructions.push({ keyword, text: rest });
  }
  return stages;
}

const logicalLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

export interface Copy {
  /** A stage's name; null: the build's context. */
  readonly from: string | null;
  readonly sources: readonly string[];
  readonly target: string;
}

export function readCopy(text: string): Copy {
  const words = text.split(/\s+/);
  const options = words.filter((word) => word.startsWith('--'));
  const unknown = options.find((option) => !option.startsWith('--from='));
  if (unknown !== undefined) throw new Error(`not understood: COPY ${unknown}`);
  const paths = words.filter((word) => !word.startsWith('--'));
  return {
    from: options[0]?.slice('--from='.length) ?? null,
    sources: paths.slice(0, -1),
    target: paths.at(-1)!,
  };
}

/**
 * Says of a path in the context whether .dockerignore keeps it out. The last pattern that fits the
 * path, or a folder that it is in, decides.
 */
export function ignoredBy(dockerignore: string): (path: string) => boolean {
  const rules = dockerignore
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({
      isException: line.startsWith('!'),
      pattern: toRegExp(line.replace(/^!/, '')),
    }));
  return (path) => {
    const parts = path.split('/');
    const pathAndFolders = parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
    return rules.reduce(
      (ignored, { isException, pattern }) =>
        pathAndFolders.some((each) => pattern.test(each)) ? !isException : ignored,
      false,
    );
  };
}

const toRegExp = (glob: string) => {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/|\*/g, (star) => (star === '*' ? '[^/]*' : '(?:.*/)?'));
  return new RegExp(`^${source}$`);
};
