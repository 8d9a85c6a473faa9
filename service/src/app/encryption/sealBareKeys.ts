import { holdsBareKey } from '../../tools/definition/requestHeaders.ts';
import type { Tool } from '../../tools/tool.ts';
import type { SecretBox } from '../../platform/security/secretBox.ts';

/** A scheme such as `Bearer `, which is not part of the key. */
const SCHEME = /^\s*[A-Za-z][A-Za-z0-9-]*\s+(?=\S)/;

/** A name that no secret of the tool has yet: `X-Api-Key` → `X_API_KEY`, or `X_API_KEY_2`. */
function freeName(header: string, taken: Readonly<Record<string, string>>): string {
  const name = header.toUpperCase().replace(/[^A-Z0-9]/g, '_');
  for (let n = 1; ; n += 1) {
    const candidate = n === 1 ? name : `${name}_${n}`;
    if (!Object.hasOwn(taken, candidate)) return candidate;
  }
}

/**
 * Moves keys that are in a tool's headers in the clear into its secrets. The tool sends the same
 * requests as before, so it stays tested and live: its definition hash does not change (decision
 * 0025).
 * @returns the same object when no header holds such a key
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
