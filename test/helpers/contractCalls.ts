// Calls every operation of the API as its contract describes it, on the records of a test.
import { operations, type NamedOperation } from '../../service/src/app/api/apiOperations.ts';
import { openApiDocument } from '../../service/src/app/api/openapi.ts';
import type { ApiAnswer, ApiClient } from './apiClient.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the document is looked at field by field
type Json = any;

/** Nothing listens there. The examples of the contract have the address of an n8n instead. */
const NOWHERE = 'https://127.0.0.1:9';

/** The contract's example of a publisher. */
const PUBLISHER = {
  instance_id: '5d9f1c',
  workflow_id: 'rXz41Hqk',
  node_id: '2b7c9e4a-3f0d-4c1b-9a52-0f6d8e1c7b33',
  host: 'n8n.example.com',
};

const { paths, components }: Json = openApiDocument('');
const documented = ({ path, method }: NamedOperation): Json =>
  paths[`/api${path.replaceAll(/:(\w+)/g, '{$1}')}`][method];

const getValue = (values: Record<string, string>, name: string): string => {
  if (values[name] === undefined) throw new Error(`the test has nothing for ${name}`);
  return values[name];
};

export class ContractCalls {
  /** The values of path parameters, by the word before them: `waits` for `/waits/:id`. */
  readonly inPath: Record<string, string> = {};
  /** The values of fields in queries and bodies, by the name of the field. */
  readonly inField: Record<string, string> = { ...PUBLISHER };

  /** The values for an operation's path, in order. @throws Error when the test has none */
  pathValues({ path }: NamedOperation): readonly string[] {
    return [...path.matchAll(/([a-z-]+)\/:/g)].map(([, word]) => getValue(this.inPath, word!));
  }

  /** Without a query. */
  addressOf(operation: NamedOperation): string {
    const values = this.pathValues(operation).values();
    return `/api${operation.path.replaceAll(/:\w+/g, () => values.next().value!)}`;
  }

  /** A query with every filter that the test has a value for. @throws Error when an id has none */
  queryOf(operation: NamedOperation): string {
    const names = documented(operation)
      .parameters.filter((each: Json) => each.in === 'query')
      .map(({ name }: Json) => name)
      .filter((name: string) => name in this.inField || name.endsWith('_id'));
    return `?${new URLSearchParams(names.map((name: string) => [name, getValue(this.inField, name)]))}`;
  }

  /** The contract's example, with the test's own ids. @throws Error for an unknown id */
  bodyOf(operation: NamedOperation): Json {
    const { requestBody } = documented(operation);
    if (!requestBody) return undefined;
    const { expires_at: _, ...example } = requestBody.content['application/json'].schema.example;
    const text = JSON.stringify(example)
      .replaceAll('https://n8n.example.com', NOWHERE)
      .replaceAll(
        /"(\w+)":"[a-z]+_01JD6Z0000000000000000000A"/g,
        (_, name: string) => `"${name}":"${getValue(this.inField, name)}"`,
      );
    return JSON.parse(text);
  }

  /** Writes that accept an Idempotency-Key all send the same one. */
  call(
    api: ApiClient,
    operation: NamedOperation,
    query = this.queryOf(operation),
  ): Promise<ApiAnswer> {
    const { method, isRead, noIdempotencyKey } = operation;
    return api.call(
      method.toUpperCase(),
      this.addressOf(operation) + query,
      this.bodyOf(operation),
      method === 'get' || isRead || noIdempotencyKey ? {} : { 'idempotency-key': 'same' },
    );
  }
}

export const operationOf = (id: string): NamedOperation =>
  operations.find((each) => each.id === id)!;

/** The operation that reads what an operation acts on: itself if it reads, else the nearest GET above. */
export function readingOperation(operation: NamedOperation): NamedOperation {
  if (operation.method === 'get' || operation.isRead) return operation;
  const above = operations.filter(
    ({ method, path }) => method === 'get' && `${operation.path}/`.startsWith(`${path}/`),
  );
  return above.toSorted((a, b) => b.path.length - a.path.length)[0]!;
}

/** The names of the fields of a body that hold ids, apart from a publisher's. */
export function idFieldsInBody(operation: NamedOperation): readonly string[] {
  const body = JSON.stringify(documented(operation).requestBody ?? {});
  const parts = [...body.matchAll(/schemas\/(\w+)/g)].map(([, name]) => components.schemas[name!]);
  const fields = [...(body + JSON.stringify(parts)).matchAll(/"(\w+_ids?)":\{/g)];
  return fields.map(([, name]) => name!).filter((name) => !(name in PUBLISHER));
}
