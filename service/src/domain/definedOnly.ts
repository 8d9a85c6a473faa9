type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without what was left out: an undefined field would overwrite what is there. */
export const definedOnly = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
