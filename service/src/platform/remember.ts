/**
 * Remembers what `make` returns for each text. Null is not remembered: strangers who ask for things
 * that do not exist must not push out those that do.
 * @param max how many results are kept; when one more comes, all of them are forgotten first
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
