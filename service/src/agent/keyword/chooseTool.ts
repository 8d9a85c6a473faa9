import MiniSearch from 'minisearch';
import type { AgentTool } from '../agentModel.ts';
import { FUNCTION_WORDS } from '../../platform/reading/detectLanguage.ts';
import { splitName, stem, wordSet, wordsOf } from '../../platform/reading/words.ts';
import { argumentsOf, listAt } from './schema.ts';

/**
 * Chooses the tool that a message means, by full-text search over the tools' names, descriptions,
 * arguments and example phrases. A tool has to match at least half of a clause's words, and to
 * score clearly higher than the second best. If several fit about equally well, a single read-only
 * one wins.
 */

const MIN_COVERAGE = 0.5;
/** How many times higher the best score must be than the second best. */
const MIN_LEAD = 1.2;

const MAX_TEXT_CHARACTERS = 8_192;
/** From each end of a message: the request stands near one of them. */
const MAX_TERMS = 60;
const MAX_DESCRIPTION_CHARACTERS = 1_000;

/** Words that say little about which tool is meant. They count in example phrases only. */
const STOP_WORDS = wordSet(
  ...Object.values(FUNCTION_WORDS),
  'tool tools customer customers client clients cliente clientes use used using returns return given via information info data field call called',
);

const withoutAddresses = (text: string) =>
  text.replace(/\S+/g, (word) => (/.@.|https?:\/\//su.test(word) ? ' ' : word));

/** The distinct words of a text, without numbers, codes and addresses. Of many, the first and last. */
function termsOf(text: string): readonly string[] {
  const terms = wordsOf(withoutAddresses(text))
    .filter((word) => word.length > 1 && word.length <= 40 && !/\d/.test(word))
    .map(stem);
  const first = [...new Set(terms)].slice(0, MAX_TERMS);
  const last = [...new Set(terms.toReversed())].slice(0, MAX_TERMS);
  return [...new Set([...first, ...last])];
}

const STOP_TERMS = new Set([...STOP_WORDS].map(stem));

/** The words that a text is about. */
export const contentTerms = (text: string): readonly string[] =>
  termsOf(text.slice(0, MAX_TEXT_CHARACTERS)).filter((term) => !STOP_TERMS.has(term));

/** The tool that the text means; null when none fits well, or several do. */
export function chooseTool(text: string, tools: readonly AgentTool[]): AgentTool | null {
  const read = text.slice(0, MAX_TEXT_CHARACTERS);
  if (tools.length === 0 || contentTerms(read).length === 0) return null;
  const found = indexOf(tools)
    .search(termsOf(read).join(' '))
    .map(({ id, score, queryTerms }) => ({
      tool: tools[id as number]!,
      score,
      coverage: coverageOf(queryTerms, read),
    }))
    .filter(({ coverage }) => coverage >= MIN_COVERAGE)
    .map(({ tool, score, coverage }) => ({ tool, score: score * coverage }));
  const best = Math.max(...found.map(({ score }) => score));
  const close = found.filter(({ score }) => score * MIN_LEAD > best);
  if (close.length === 1) return close[0]!.tool;
  const readOnly = close.filter(({ tool }) => tool.readOnly);
  return readOnly.length === 1 ? readOnly[0]!.tool : null;
}

/** The share of content words that match, in the clause that matches best. */
function coverageOf(matched: readonly string[], text: string): number {
  const clauses = text
    .split(/[.,;:!?\n]| (?:and|but|y|pero|e|mas) /)
    .map(contentTerms)
    .filter((terms) => terms.length > 0);
  const shares = clauses.map(
    (terms) => terms.filter((term) => matched.includes(term)).length / terms.length,
  );
  return Math.max(0, ...shares);
}

interface Indexed {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly arguments: string;
  readonly examples: string;
}

/** A cache by the first tool of a list, since a turn searches the same tools several times. */
const indexes = new WeakMap<
  AgentTool,
  { readonly tools: readonly AgentTool[]; readonly index: MiniSearch<Indexed> }
>();

function indexOf(tools: readonly AgentTool[]): MiniSearch<Indexed> {
  const known = indexes.get(tools[0]!);
  if (known?.tools.length === tools.length && known.tools.every((tool, at) => tool === tools[at]))
    return known.index;
  const index = createIndex(tools);
  indexes.set(tools[0]!, { tools, index });
  return index;
}

function createIndex(tools: readonly AgentTool[]): MiniSearch<Indexed> {
  const index = new MiniSearch<Indexed>({
    fields: ['name', 'description', 'arguments', 'examples'],
    tokenize: (text, field) =>
      field === undefined ? text.split(' ') : wordsOf(text).filter((word) => !/\d/.test(word)),
    processTerm: (word, field) => {
      if (field === undefined) return word;
      return field !== 'examples' && STOP_WORDS.has(word) ? null : stem(word);
    },
    searchOptions: {
      boost: { name: 2, examples: 2 },
      prefix: (term) => term.length >= 4 && !STOP_TERMS.has(term),
      boostTerm: (term) => (STOP_TERMS.has(term) ? 0.2 : 1),
      fuzzy: (term) => (term.length >= 6 ? 0.2 : false),
    },
  });
  index.addAll(
    tools.map((tool, id) => ({
      id,
      name: splitName(tool.name),
      description: tool.description.slice(0, MAX_DESCRIPTION_CHARACTERS),
      arguments: argumentWords(tool),
      examples: tool.examplePhrases.join('\n'),
    })),
  );
  return index;
}

/** The names of the arguments, and their options. */
const argumentWords = (tool: AgentTool): string =>
  argumentsOf(tool)
    .flatMap((argument) => [
      splitName(argument.name),
      ...(listAt(argument.schema, 'enum') ?? []).map((option) => splitName(String(option))),
    ])
    .join(' ')
    .slice(0, MAX_DESCRIPTION_CHARACTERS);
