import type { Language } from './language.ts';
import { wordSet, wordsOf } from './words.ts';

/**
 * Words that show a text's language and say little about its subject. A word that two languages
 * share is in both lists. Folded: no accents.
 */
export const FUNCTION_WORDS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: wordSet(
    'a an the this that these those it its i im ive id ill me my mine we us our you your yours he she they them their his her',
    'is are am was were be been being do does did done doing dont doesnt didnt isnt arent cant cannot wont wouldnt couldnt have has had having',
    'will would can could should shall may might must and or but if so because as at by for from in into of on off to with without about over after before between',
    'what which who whom whose when where why how whats wheres hows there here not no yes yeah yep any some every all more most much many very too just only also still again',
    'want need like know get got give tell please thanks thank hello hi hey help good morning afternoon evening night bye goodbye ok okay sorry someone somebody anyone',
    'let lets make see say said one two now then than ever never really right thats theres today tomorrow yesterday',
  ),
  es: wordSet(
    'el la los las lo un una unos unas al del de que y o u e en a con por para sin sobre desde hasta entre pero mas si no ni',
    'yo tu usted ustedes el ella ellos ellas nosotros me te se le les nos mi mis su sus tus mio mia este esta esto estos estas ese esa eso esos esas aquel',
    'es son soy eres somos era fue ser estar estoy estas estan esta hay ha he han hemos tengo tiene tienen tienes tener hacer hago hace haga puedo puede puedes pueden podria podrias',
    'quiero quisiera quieres quiere necesito necesita gustaria deseo saber decir dime digame dame deme ver voy va vamos ir favor gracias hola buenas buenos dias tardes noches',
    'cuando donde como cual cuales quien quienes cuanto cuanta cuantos cuantas porque que muy mucho mucha muchos muchas poco algo alguien alguno alguna nada nadie tambien ya aun todavia',
    'ahora hoy manana ayer aqui aca ahi alli solo todo toda todos todas otro otra ok vale dale claro adios chau ayuda ayudar ayudarme bien senor senora disculpe perdon listo',
  ),
  pt: wordSet(
    'o a os as um uma uns umas ao aos do da dos das de no na nos nas em que e ou com por para pra pro pelo pela sem sobre desde ate entre mas se nao nem',
    'eu tu voce voces vc vcs ele ela eles elas nos me te se lhe meu minha meus minhas seu sua seus suas este esta isto isso esse essa estes estas aquele aquela',
    'e sao sou era foi ser estar estou esta estao tem tenho temos ter ha fazer faco faz posso pode podem poderia consigo consegue quero queria quer preciso precisa gostaria desejo',
    'saber dizer diga me ver vou vai vamos ir favor obrigado obrigada obg ola oi bom boa dia tarde noite quando onde como qual quais quem quanto quanta quantos quantas porque',
    'muito muita muitos muitas pouco algo alguem algum alguma nada ninguem tambem ja ainda agora hoje amanha ontem aqui ai ali la so todo toda todos tudo outro outra',
    'ok ta claro sim tchau ajuda ajudar bem senhor senhora desculpe desculpa falar',
  ),
};

/** Characters and endings that tell the languages apart. A shared ending counts for both. */
const TRAITS: Readonly<Record<Language, RegExp>> = {
  en: /\b\w+(?:ing|ght)\b|['’](?:s|t|re|ll|ve|m|d)(?![\p{L}\p{N}])/iu,
  es: /[ñ¿¡]|\b\w+(?:ci[oó]n|ciones|dad|dades)\b/i,
  pt: /[ãõâêôàç]|\b\w+(?:ção|ções|cao|coes|dade|dades|nh[ao]s?|lh[ao]s?)\b/i,
};

/**
 * Words common in first messages that also show the language. Unlike function words, they say
 * something about the subject too.
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

/** Only the first words of a message are read: they are enough to tell. */
const MAX_WORDS = 200;

/**
 * Detects the language of a customer's messages by function words and characters. The newest text
 * decides; older ones count only while several languages have the same score. "Um" alone says nothing
 * where English is spoken: there, it is a hesitation.
 * @param texts what the customer wrote, the newest last
 * @param languages the agent's languages; the first one is returned when nothing decides
 */
export function detectLanguage(texts: readonly string[], languages: readonly Language[]): Language {
  let scores = languages.map((language) => ({ language, score: 0 }));
  for (const text of texts.toReversed()) {
    const head = text.slice(0, 2_000);
    const words = wordsOf(head).slice(0, MAX_WORDS);
    if (words.join(' ') === 'um' && languages.includes('en')) continue;
    scores = scores.map(({ language, score }) => ({
      language,
      score: score + scoreOf(language, head, words),
    }));
    const best = Math.max(...scores.map(({ score }) => score));
    const leaders = scores.filter(({ score }) => score === best);
    if (leaders.length === 1) return leaders[0]!.language;
  }
  return scores.toSorted((a, b) => b.score - a.score)[0]?.language ?? 'en';
}

function scoreOf(language: Language, text: string, words: readonly string[]): number {
  const known = words.filter(
    (word) => FUNCTION_WORDS[language].has(word) || TELLING_WORDS[language].has(word),
  ).length;
  return known + (TRAITS[language].test(text) ? 2 : 0);
}
