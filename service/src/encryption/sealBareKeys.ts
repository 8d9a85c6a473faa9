import { holdsBareKey } from '../domain/requestHeaders.ts';
import type { Tool } from '../domain/tool.ts';
import type { SecretBox } from '../security/secretBox.ts';

/** `Bearer ` and the like, which is no part of the key. */
const SCHEME = /^\s*[A-Za-z][A-Za-z0-9-]*\s+(?=\S)/;

/** A name that no secret of the tool has: `X-Api-Key` → `X_API_KEY`, or `X_API_KEY_2`. */
function freeName(header: string, taken: Readonly<Record<string, string>>): string {
  const name = header.toUpperCase().replace(/[^A-Z0-9]/g, '_');
  for (let n = 1; ; n += 1) {
    const candidate = n === 1 ? name : `${name}_${n}`;
    if (!Object.hasOwn(taken, candidate)) return candidate;
  }
}

/**
 * The tool with each key that stands in a header as it is moved into the tool's secrets. It calls
 * as before, so it stays tested and live: its definition hash is an opaque name (decision 0025).
 * @returns the very same tool when there is none
 */
export function sealBareKeys(tool: Tool, { seal }: SecretBox): Tool {
  const bare = Object.entries(tool.requestTemplate?.headers ?? {}).filter(([name, text]) =>
    holdsBareKey(name, text),
  );
  if (tool.requestTemplate === null || bare.length === 0) return tool;
  const headers: Record<string, string> = { ...tool.requestTemplate.headers };
  const sealedTemplateSecrets: Record<string, string> = { ...tool.sealedTemplateSecrets };
  for (const [header, text] of bare) {
    const name = freeName(header, sealedTemplateSecrets);
    const scheme = SCHEME.exec(text)?.[0] ?? '';
    sealedTemplateSecrets[name] = seal(text.slice(scheme.length).trim());
    headers[header] = `${scheme}{{secrets.${name}}}`;
  }
  return { ...tool, requestTemplate: { ...tool.requestTemplate, headers }, sealedTemplateSecrets };
}
