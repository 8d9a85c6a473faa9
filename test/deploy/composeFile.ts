// Reads compose.yaml as Compose does: with merges done and variables filled in.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface ComposeService {
  readonly image: string;
  readonly build?: string | { readonly context: string; readonly target?: string };
  readonly profiles?: readonly string[];
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly stop_grace_period?: string;
  readonly mem_limit?: string;
  readonly logging?: {
    readonly driver: string;
    readonly options: Readonly<Record<string, string>>;
  };
  readonly networks:
    | readonly string[]
    | Readonly<Record<string, { readonly ipv4_address: string }>>;
}

export interface ComposeFile {
  readonly name: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<
    Record<
      string,
      {
        readonly ipam: {
          readonly config: readonly { readonly subnet: string; readonly ip_range: string }[];
        };
      }
    >
  >;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** @throws Error with Compose's words when a required variable has no value */
export function readCompose(path: string, env: Readonly<Record<string, string>>): ComposeFile {
  return fillAll(parse(readFileSync(path, 'utf8'), { merge: true }), env) as ComposeFile;
}

function fillAll(value: unknown, env: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') return fill(value, env);
  if (Array.isArray(value)) return value.map((each) => fillAll(each, env));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, fillAll(each, env)]),
  );
}

/** `${NAME}`, `${NAME:-default}`, `${NAME:+instead}` and `${NAME:?message}`, the innermost first. */
function fill(text: string, env: Readonly<Record<string, string>>): string {
  const innermost = /\$\{(\w+)(?::([-+?])([^${}]*))?\}/;
  const found = innermost.exec(text);
  if (found === null) return text;
  const [reference, name = '', kind, rest = ''] = found;
  const value = valueOf(env[name] ?? '', name, kind, rest);
  return fill(
    text.replace(reference, () => value),
    env,
  );
}

function valueOf(value: string, name: string, kind: string | undefined, rest: string): string {
  if (kind === '+') return value === '' ? '' : rest;
  if (value !== '' || kind === undefined) return value;
  if (kind === '-') return rest;
  throw new Error(`required variable ${name} is missing a value: ${rest}`);
}

/** The names of the variables that a file uses. */
export const variablesOf = (text: string): string[] => [
  ...new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!)),
];

/** NAME=value lines; the last one of a name counts. */
export const readEnvFile = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
