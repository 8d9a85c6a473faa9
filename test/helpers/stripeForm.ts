// Bodies as Stripe's API takes them: application/x-www-form-urlencoded, nested with brackets.

export interface Form {
  [name: string]: string | Form;
}

/** `a[0][b]=c` → `{ a: { '0': { b: 'c' } } }` */
export function parseForm(text: string): Form {
  const form: Form = {};
  for (const [path, value] of new URLSearchParams(text)) {
    const [first, ...rest] = path.split('[').map((part) => part.replace(/\]$/, ''));
    let inner = form;
    let name = first!;
    for (const next of rest) {
      inner = (inner[name] ??= {}) as Form;
      name = next;
    }
    inner[name] = value;
  }
  return form;
}
