/**
 * The size of a pattern with its counts written out: about the number of instructions that it compiles
 * to, estimated from its text. `(?:(?:x{30}){30}){30}` is short, and compiles to 27,000.
 */
export function patternSize(pattern: string): number {
  /** For each open group: its size so far, and the size of the part that a count would repeat. */
  const open = [{ size: 3, last: 0 }];
  const add = (size: number) => {
    open.at(-1)!.size += size;
    open.at(-1)!.last = size;
  };
  /** Repeats the part that was added last. */
  const repeat = (least: number, most: number) => {
    const { last } = open.at(-1)!;
    add(last * (most - 1) + (most - least));
    open.at(-1)!.last += last;
  };
  for (const { 0: part, groups } of pattern.matchAll(PARTS)) {
    if (groups?.least !== undefined)
      repeat(Number(groups.least), Number(groups.most ?? groups.least));
    else if (groups?.open !== undefined) repeat(Number(groups.open), Number(groups.open) + 1);
    else if (part.startsWith('('))
      open.push({ size: part === '(' || part.endsWith('>') ? 2 : 0, last: 0 });
    else if (part === ')' && open.length > 1) add(open.pop()!.size);
    else if ('|?*+'.includes(part)) repeat(0, 1);
    else add(1);
  }
  return open.reduce((sum, { size }) => sum + size, 0);
}

/** Matches a whole count, start of a group, class or escape, or else one character. */
const PARTS =
  /\{(?<least>\d{1,9})(?:,(?<most>\d{1,9}))?\}|\{(?<open>\d{1,9}),\}|\((?:\?(?:P?<\w*>|[a-zA-Z-]*:?))?|\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]|\\(?:[pP](?:\{[^}]*\}|.)|x\{[^}]*\}|.)|./gsu;
