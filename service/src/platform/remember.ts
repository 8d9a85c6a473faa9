/**
 * Remembers what `make` returns for each text.
 * @param max so many are kept; beyond that, all are forgotten
 */
export function remember<T>(max: number, make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    let made = known.get(text);
    if (made === undefined) {
      made = make(text);
      if (known.size >= max) known.clear();
      known.set(text, made);
    }
    return made;
  };
}
