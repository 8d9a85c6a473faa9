import MiniSearch from 'minisearch';
import type { AgentTool } from '../agentModel.ts';
import { FUNCTION_WORDS } from '../functionWords.ts';
import { splitName, stem, wordSet, wordsOf } from '../words.ts';
import { actsOf } from './acts.ts';
import { isUncalledFor } from './actRequest.ts';
import { actingConcept, conceptOf } from './concepts.ts';
import { argumentsOf, list, nameOf } from './schema.ts';

/** How well a tool fits a text. */
export interface Candidate {
  readonly tool: AgentTool;
  /** A word of the tool's name is in the text. */
  readonly named: boolean;
  /**
   * The part of the content words that the tool has, 0 to 1, in the clause where it is greatest.
   */
  readonly coverage: number;
}

const STOP_WORDS = wordSet(
  ...Object.values(FUNCTION_WORDS),
  'tool tools customer customers client clients cliente clientes use used using returns return given by via information info data field call called',
);

/** What is longer is read up to here. */
const MAX_TEXT = 8_192;

/**
 * Word by word: an expression for a whole address would begin again at each letter of a long word.
 */
const withoutAddresses = (text: string) =>
  text.replace(/\S+/g, (word) => (/.@./su.test(word) ? ' ' : word.replace(/https?:\/\/.+/s, ' ')));

/** More words say no more about what is wanted, and each is a search. */
const MAX_TERMS = 60;
const MAX_DESCRIPTION = 1_000;

/**
 * The words that a text is about: no stop words, nothing with a digit, each once, as a concept
 * where there is one.
 */
export const contentTerms = (text: string): readonly string[] => [
  ...new Set(
    wordsOf(withoutAddresses(text.slice(0, MAX_TEXT)))
      .filter(
        (word) => word.length > 1 && word.length <= 40 && !STOP_WORDS.has(word) && !/\d/.test(word),
      )
      .map(stem)
      .map((word) => conceptOf(word) ?? word),
  ),
];

/**
 * The one tool that fits a text better than every other; null when none does or several do.
 * Fitting better is not fitting well: that is for `fitsWell` to say.
 */
export function bestTool(text: string, tools: readonly AgentTool[]): Candidate | null {
  const terms = contentTerms(text).slice(0, MAX_TERMS);
  if (terms.length === 0 || tools.length === 0) return null;
  const said = scoreTools(terms, tools).filter(({ tool, matched }) =>
    isSaid(actingConceptOf(tool), matched),
  );
  if (said.some(({ tool }) => isNegated(actingConceptOf(tool), text))) return null;
  const scored = said.filter(({ tool }) => !isUncalledFor(tool, text));
  const [first, second] = scored.sort((a, b) => b.points - a.points || b.score - a.score);
  if (first === undefined) return null;
  const clear =
    second === undefined || first.points > second.points || first.score > second.score * 1.5;
  return clear
    ? { tool: first.tool, named: first.named, coverage: coverageOf(first.terms, text) }
    : null;
}

/** Sure enough to call a tool, or to ask what it needs. */
export const fitsWell = ({ named, coverage }: Candidate): boolean =>
  coverage >= (named ? 0.4 : 0.6);

/** Customers tell a story around what they ask: one clause of it has to fit, not all of it. */
function coverageOf(matched: ReadonlySet<string>, text: string): number {
  const clauses = text
    .slice(0, MAX_TEXT)
    .split(/[.,;:!?\n]| (?:and|but|y|pero|e|mas) /)
    .map((clause) => contentTerms(clause).slice(0, MAX_TERMS));
  return Math.max(
    0,
    ...clauses
      .filter((terms) => terms.length > 0)
      .map((terms) => terms.filter((term) => matched.has(term)).length / terms.length),
  );
}

interface Score {
  readonly tool: AgentTool;
  /** The customer's words that fit. */
  readonly terms: ReadonlySet<string>;
  /** Two for a word in the name, one for a word elsewhere, half for one that is only similar. */
  readonly points: number;
  readonly score: number;
  readonly named: boolean;
  /** The tool's words that fit. */
  readonly matched: ReadonlySet<string>;
}

function scoreTools(terms: readonly string[], tools: readonly AgentTool[]): readonly Score[] {
  const index = indexOf(tools);
  const scores = new Map<number, Score>();
  for (const term of terms) {
    const isConcept = term.startsWith('=');
    for (const { id, score, match } of index.search(term, {
      prefix: !isConcept && term.length >= 4,
      fuzzy: isConcept ? false : allowedTypos(term),
    })) {
      const before = scores.get(id) ?? {
        tool: tools[id]!,
        terms: new Set<string>(),
        points: 0,
        score: 0,
        named: false,
        matched: new Set<string>(),
      };
      const found = Object.keys(match);
      const named = found.some((word) => match[word]!.includes('name'));
      scores.set(id, {
        tool: before.tool,
        terms: new Set([...before.terms, term]),
        points: before.points + (named ? 2 : 1) * (found.includes(term) ? 1 : 0.5),
        score: before.score + score,
        named: before.named || named,
        matched: new Set([...before.matched, ...found]),
      });
    }
  }
  return [...scores.values()];
}

const allowedTypos = (term: string): number | false =>
  term.length < 6 ? false : term.length < 9 ? 1 : 2;

type Index = MiniSearch<{ id: number; name: string; description: string; arguments: string }>;

/** By the first tool of a list: tools that did not change are the same objects at each turn. */
const indexes = new WeakMap<
  AgentTool,
  { readonly tools: readonly AgentTool[]; readonly index: Index }
>();

function indexOf(tools: readonly AgentTool[]): Index {
  const known = indexes.get(tools[0]!);
  if (known?.tools.length === tools.length && known.tools.every((tool, at) => tool === tools[at]))
    return known.index;
  const index = createIndex(tools);
  indexes.set(tools[0]!, { tools, index });
  return index;
}

function createIndex(tools: readonly AgentTool[]): Index {
  const index = new MiniSearch<{
    id: number;
    name: string;
    description: string;
    arguments: string;
  }>({
    fields: ['name', 'description', 'arguments'],
    tokenize: (text, field) => (field === undefined ? [text] : [...wordsOf(text)]),
    processTerm: (word, field) => (field === undefined ? word : indexTerms(word)),
    searchOptions: { boost: { name: 2 } },
  });
  index.addAll(
    tools.map((tool, id) => ({
      id,
      name: splitName(tool.name),
      description: tool.description.slice(0, MAX_DESCRIPTION),
      arguments: argumentWords(tool),
    })),
  );
  return index;
}

/** What a tool can be told says what it is for: the names of its arguments, and their options. */
const argumentWords = (tool: AgentTool): string =>
  argumentsOf(tool)
    .flatMap((argument) => [
      splitName(nameOf(argument)),
      ...(list(argument.schema, 'enum') ?? [])
        .filter((option) => typeof option === 'string')
        .map(splitName),
    ])
    .join(' ')
    .slice(0, MAX_DESCRIPTION);

function indexTerms(word: string): string[] | null {
  if (word.length < 2 || STOP_WORDS.has(word)) return null;
  const stemmed = stem(word);
  const concept = conceptOf(stemmed);
  return concept === null ? [stemmed] : [stemmed, concept];
}

const NEGATION =
  /\b(?:dont|do not|not|never|cant|cannot|without|no|nunca|sin|jamas|nao|nem|sem)(?: [\p{L}\p{N}]+){0,4}$/u;

const actingConceptOf = (tool: AgentTool) => actingConcept(wordsOf(splitName(tool.name)));

/** A tool that cancels, refunds or books is for a customer who says so. */
const isSaid = (acting: string | null, matched: ReadonlySet<string>): boolean =>
  acting === null || [...matched].some((word) => word === acting || conceptOf(word) === acting);

/** "Don't cancel": that it is not wanted says little about what is. */
function isNegated(acting: string | null, text: string): boolean {
  if (acting === null) return false;
  return clausesOf(text).some((words) => {
    const at = words.findIndex((word) => conceptOf(stem(word)) === acting);
    return at > 0 && NEGATION.test(words.slice(Math.max(0, at - 5), at).join(' '));
  });
}

/** The words of each clause of a text, which is asked about for each tool in turn. */
function clausesOf(text: string): readonly (readonly string[])[] {
  if (last?.text !== text)
    last = {
      text,
      clauses: text
        .slice(0, MAX_TEXT)
        .split(/[.,;!?\n]+/)
        .map(wordsOf),
    };
  return last.clauses;
}

let last: { readonly text: string; readonly clauses: readonly (readonly string[])[] } | undefined;

const KNOWLEDGE = wordSet(
  'faq faqs knowledge question questions pregunta preguntas pergunta perguntas duda dudas duvida duvidas help center wiki documentation',
);

const saysItAnswers = ({ name, description }: AgentTool) =>
  wordsOf(`${splitName(name)} ${description.slice(0, MAX_DESCRIPTION)}`).some((word) =>
    KNOWLEDGE.has(word),
  );

/**
 * The one tool that says it answers questions, whatever they are about, and acts on nothing; null
 * when there is none or several.
 */
export function knowledgeTool(tools: readonly AgentTool[]): AgentTool | null {
  const found = tools.filter((tool) => actsOf(tool).length === 0 && saysItAnswers(tool));
  return found.length === 1 ? found[0]! : null;
}
