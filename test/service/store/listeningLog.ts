/** A logger that remembers. */
export const listeningLog = () => {
  const lines: string[] = [];
  const note = (line: string) => void lines.push(line);
  return { lines, info: note, warn: note, error: note };
};
