/** The object with one property replaced; its methods keep their own `this`. */
export const overriding = <T extends object, K extends keyof T>(
  target: T,
  name: K,
  value: T[K],
): T =>
  new Proxy(target, {
    get(of, key) {
      if (key === name) return value;
      const property: unknown = Reflect.get(of, key, of);
      return typeof property === 'function' ? property.bind(of) : property;
    },
  });
