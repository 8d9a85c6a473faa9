/**
 * Remembers what `make` returns for each text, but never null: a stranger who asks for what does not
 * exist must not push out what does.
 * @param max how many are kept; one more, and all are forgotten
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
