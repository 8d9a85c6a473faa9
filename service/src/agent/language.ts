import type { Language } from './agentModel.ts';
import { FUNCTION_WORDS } from './functionWords.ts';
import { wordSet, wordsOf } from './words.ts';

/** Characters and endings that only one of the languages has. */
const TRAITS: Readonly<Record<Language, RegExp>> = {
  en: /\b\w+(?:ing|ght)\b|'(?:s|t|re|ll|ve|m|d)\b/i,
  es: /[ñ¿¡]|\b\w+(?:ci[oó]n|ciones|dad|dades)\b/i,
  pt: /[ãõâêôàç]|\b\w+(?:ção|ções|cao|coes|dade|dades|nh[ao]s?|lh[ao]s?)\b/i,
};

/**
 * Words of many first messages that only one of the languages has; they say something about the
 * subject too.
 */
const TELLING_WORDS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: wordSet(
    'order orders price refund shipping tracking number name status open closed work works working broken bought',
  ),
  es: wordSet(
    'me llamo llama nombre hora abren abre cierran funciona funcionan pedido envio precio cuesta cuestan llego factura cita',
  ),
  pt: wordSet(
    'me chamo chama nome horas abre abrem fecham funciona funcionam pedido entrega preco custa custam chegou fatura boleto atendente atendentes atendimento',
  ),
};

/** Words to read of one message: the first ones say enough. */
const MAX_WORDS = 200;

/**
 * The working language that a customer's words are in, told by function words and characters.
 * The newest text decides; an older one only where the newer ones leave several languages possible.
 * @param texts what the customer wrote, the newest last
 * @param among working languages, the preferred one first; it is the answer when nothing decides
 */
export function detectLanguage(texts: readonly string[], among: readonly Language[]): Language {
  let scores = among.map((language) => ({ language, score: 0 }));
  for (const text of texts.toReversed()) {
    const head = text.slice(0, 2_000);
    const words = wordsOf(head).slice(0, MAX_WORDS);
    scores = scores.map(({ language, score }) => ({
      language,
      score: score + scoreOf(language, head, words),
    }));
    const best = Math.max(...scores.map(({ score }) => score));
    const leaders = scores.filter(({ score }) => score === best);
    if (leaders.length === 1) return leaders[0]!.language;
  }
  const best = Math.max(...scores.map(({ score }) => score));
  return scores.find(({ score }) => score === best)?.language ?? 'en';
}

function scoreOf(language: Language, text: string, words: readonly string[]): number {
  const known = words.filter(
    (word) => FUNCTION_WORDS[language].has(word) || TELLING_WORDS[language].has(word),
  ).length;
  return known + (TRAITS[language].test(text) ? 2 : 0);
}
