/**
 * Remembers what `make` returns for each text. Null is made again each time: a stranger who asks for
 * what does not exist makes nothing be forgotten.
 * @param max so many are kept; beyond that, all are forgotten
 */
export function remember<T>(max: number, make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    let made = known.get(text);
    if (made === undefined) {
      made = make(text);
      if (made === null) return made;
      if (known.size >= max) known.clear();
      known.set(text, made);
    }
    return made;
  };
}
