import { readFile, writeFile } from 'node:fs/promises';

/** Changes one bit in the middle of a file. */
export const flipMiddle = async (path: string) => {
  const bytes = await readFile(path);
  bytes[Math.floor(bytes.length / 2)]! ^= 0x01;
  await writeFile(path, bytes);
};
