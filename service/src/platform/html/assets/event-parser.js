// Server-sent events that are read by fetch.

/** Takes a stream's text in pieces; gives each event once it is whole. */
export function eventParser() {
  let rest = '';
  return (piece) => {
    const blocks = (rest + piece).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    return blocks.map(readBlock);
  };
}

function readBlock(block) {
  const fields = block.split(/\r?\n/).map((line) => /^([a-z]+): ?(.*)$/.exec(line) ?? []);
  const valuesOf = (name) =>
    fields.filter(([, field]) => field === name).map(([, , value]) => value);
  return {
    event: valuesOf('event').at(-1),
    id: valuesOf('id').at(-1),
    data: valuesOf('data').join('\n'),
    retry: valuesOf('retry').at(-1),
  };
}
