/** A logger that keeps its lines. */
export const listeningLog = () => {
  const lines: string[] = [];
  const note = (line: string) => void lines.push(line);
  return { lines, info: note, warn: note, error: note };
};
