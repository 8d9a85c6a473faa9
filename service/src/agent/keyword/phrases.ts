import { anyOf, foldCase, wordSet, wordsOf } from '../../platform/reading/words.ts';

/**
 * Recognises messages that need no tool: a greeting, thanks, yes, no, and a request for a person.
 * Short lists for English, Spanish and Portuguese, compared in lower case and without accents. A
 * text counts as small talk only if all its words are in the list.
 */

const MAX_SHORT_WORDS = 15;
const MAX_SHORT_CHARACTERS = 200;

function shortWords(text: string): readonly string[] {
  if (text.length > MAX_SHORT_CHARACTERS) return [];
  const words = wordsOf(text);
  return words.length <= MAX_SHORT_WORDS ? words : [];
}

/** Whether all words are in one of the lists, and at least one of them in `telling`. */
function consistsOf(
  text: string,
  telling: ReadonlySet<string>,
  allowed: ReadonlySet<string>,
): boolean {
  const words = shortWords(text);
  return (
    words.some((word) => telling.has(word)) &&
    words.every((word) => telling.has(word) || allowed.has(word))
  );
}

// ---- Small talk

const GREETINGS = wordSet(
  'hi hello hey greetings help question hola buenas buenos ayuda pregunta consulta oi ola bom boa ajuda duda duvida',
);
const BESIDE_GREETINGS = wordSet(
  'there good morning afternoon evening dear everyone team how are you doing is anyone to all i need want have a some please can could me with quick',
  'que tal como esta estas dias tardes noches equipo muy todo bien necesito quiero tengo una un favor por puede puedes ayudar ayudarme alguien ahi',
  'tudo bem com voce e ai vai dia tarde noite equipe preciso quero tenho de uma um pode me ajudar alguem',
);
const THANKS = wordSet('thanks thank thx cheers gracias agradezco obrigado obrigada obg valeu');
const GOODBYES = wordSet('bye goodbye adios chau chao tchau');
const BESIDE_THANKS = wordSet(
  'you very much so a lot many for your the help that thats is all it nothing else more see later soon have nice good great day evening night perfect ok okay no',
  'muchas mil muy amable por la su tu ayuda atencion eso es todo nada mas seria hasta luego pronto manana que tenga buen buena dia tarde noche perfecto listo bueno bien ya',
  'muito muita pela sua ajuda atencao e era so isso tudo nada mais ate logo tenha um uma bom boa perfeito otimo nao de',
);
const DONE = new RegExp(
  `\\b${anyOf(
    'thats (?:all|it)|that is all|nothing (?:else|more)|see you',
    'eso es todo|nada mas|hasta (?:luego|pronto|manana)',
    'e so isso|era so isso|nada mais|ate logo',
  )}\\b`,
);

/** "hello", "hola, necesito ayuda": the customer has not said yet what they want. */
export const isGreeting = (text: string) => consistsOf(text, GREETINGS, BESIDE_GREETINGS);

/** "thanks", "muchas gracias". */
export const isThanks = (text: string) => consistsOf(text, THANKS, BESIDE_THANKS);

/** "thanks, bye", "gracias, eso es todo": the customer is done. */
export const isFarewell = (text: string) =>
  consistsOf(text, GOODBYES, new Set([...THANKS, ...BESIDE_THANKS])) ||
  (DONE.test(shortWords(text).join(' ')) &&
    consistsOf(text, BESIDE_THANKS, new Set([...THANKS, ...GOODBYES])));

// ---- Yes and no

const YES = wordSet(
  'yes yeah yep yup sure ok okay please absolutely definitely certainly alright correct',
  'si sip claro dale vale bueno listo perfecto adelante afirmativo porfa correcto quiero quisiera',
  'sim quero pode isso beleza certeza bora gostaria favor pfv perfeito otimo combinado',
);
const BESIDE_YES = wordSet(
  'i would like love that great thats good thank thanks you do it go ahead of course right very much is fine sounds a person',
  'por favor de acuerdo gracias muchas me gustaria eso bien esta supuesto confirmo que una persona',
  'obrigado obrigada muito com ta bom tudo bem eu faca ser uma pessoa',
);
const YES_PHRASE = new RegExp(
  `\\b${anyOf(
    'i would|sounds good|go ahead|of course|do it',
    'me gustaria|de acuerdo|por supuesto|esta bien|por favor',
    'tudo bem|ta bom|pode ser',
  )}\\b`,
);
const NO = wordSet('no nope nao never nunca');
const BESIDE_NO = wordSet(
  'not now thanks thank you its fine ok okay need',
  'gracias asi esta bien ahora todo hace falta por',
  'obrigado obrigada agora precisa tudo bem',
);
const CHANGES_MIND = new RegExp(
  `^(?:(?:no|ok|nao|oh|well) )?${anyOf(
    'never ?mind|nvm|forget (?:it|about it)|cancel(?: that)?|stop|leave it|dont|do not',
    'olvidal[oa]|olvidel[oa]|dejalo|dejelo|cancel[ae]r?|ya no|no importa|no quiero|nada',
    'deixa(?: pra la)?|esquece|nao quero(?: mais)?',
  )}(?: ${anyOf('please|thanks', 'por favor|gracias', 'obrigad[oa]')})*$`,
);

/** A plain yes, and nothing else. "yes, but…" and a question do not count. */
export function isYes(text: string): boolean {
  if (text.includes('?') || text.length > MAX_SHORT_CHARACTERS) return false;
  if (wordsOf(text).length === 0) return /[👍👌✅]/u.test(text) && !/[👎❌🚫]/u.test(text);
  return (
    consistsOf(text, YES, BESIDE_YES) ||
    (YES_PHRASE.test(shortWords(text).join(' ')) && consistsOf(text, BESIDE_YES, YES))
  );
}

/** "no", "no thanks", "never mind". */
export const isNo = (text: string) =>
  consistsOf(text, NO, BESIDE_NO) || CHANGES_MIND.test(shortWords(text).join(' '));

// ---- A person

const PERSON = anyOf(
  'person|human(?: being)?|agent|operator|representative|supervisor',
  'persona|ser humano|human[oa]|asesora?|agente|operadora?|representante|supervisora?',
  'pessoa|atendente',
);
const TEAM = anyOf(
  'someone|somebody|manager|colleague|team|customer (?:service|support|care)|support',
  'alguien|encargad[oa]|gerente|soporte|atencion al cliente|servicio al cliente|equipo',
  'alguem|responsavel|suporte|atendimento|equipe',
);
const ARTICLES = `(?:${anyOf(
  'an?|another|the|some|your|my|real|live|actual|human',
  'una?|otr[oa]|algun[oa]?|el|la|su|al|verdader[oa]',
  'uma?|outr[oa]|alguma?|o|seu|sua',
)} ){0,2}`;
/** Words before a person or a team: "talk to support". */
const ASKS_TO_TALK = anyOf(
  '(?:talk|speak|chat) (?:directly )?(?:to|with)',
  '(?:connect|transfer|pass|put|forward) (?:me|us)(?: through)? (?:to|with)',
  'escalate (?:this |it )?to',
  '(?:hablar|platicar|conversar|chatear|comunicar(?:me)?|contactar(?:me)?)(?: con)?',
  '(?:pas[ae]|comuni(?:ca|que)|conect[ae]|transfier[ae]|deriv[ae])[rn]?(?:me)? (?:con|a)',
  'atiend[ae]|atender(?:me)?',
  '(?:falar|conversar|ser atendid[oa])(?: com| por)?|em contato com',
  '(?:pass[ae]r?|transfira|transfer(?:e|ir)|conect[ae]r?)(?: me)? (?:para|pra|pro|com|a)',
);
/** Words before a person, but not before a team: "I want support" asks for something else. */
const ASKS_FOR = anyOf(
  'want|need|prefer|get me|give me|would like|id like|help from',
  'quiero|quisiera|necesito|prefiero|ayuda de',
  'quero|queria|gostaria de|preciso(?: de)?|prefiro|chamar?|ajuda de',
);
const BOT = '(?:bot|chatbot|robot?|machine|maquina)';
/**
 * The whole clause is the request. A bare "a person" is no request: it may say how many people
 * come.
 */
const ALONE = `(?<=^ *|[.!?;:\\n] *)${anyOf(
  `(?!person|pessoa)${ARTICLES}(?!person|pessoa)${PERSON}(?:,? (?:please|pls|por favor|porfa))?`,
  `${ARTICLES}${PERSON},? (?:please|pls|por favor|porfa)`,
)} *(?=$|[.!?;:\\n])`;

const REQUESTS = new RegExp(
  [
    `\\b${ASKS_TO_TALK} ${ARTICLES}${anyOf(PERSON, TEAM)}\\b`,
    `\\b${ASKS_FOR} ${ARTICLES}${PERSON}\\b(?! (?:resources|rights|size|number))`,
    '\\b(?:real|live) (?:person|human|agent)\\b|\\bhuman (?:agent|support|help)\\b',
    '\\b(?:persona|pessoa) (?:real|de (?:verdad|verdade))\\b',
    '\\b(?:agente|asesora?|atencion|ayuda|atendente|atendimento|suporte) human[oa]\\b',
    '\\b(?:someone|anyone) (?:i|we) can (?:talk|speak)|\\b(?:alguien|alguem) (?:con quien|com quem)',
    `\\b${anyOf(PERSON, TEAM)} (?:call|contact|phone|write to) (?:me|us)\\b`,
    `\\b${anyOf(PERSON, TEAM)} (?:pode )?(?:me )?(?:llame|contacte|atienda|escriba|ayude)\\b`,
    `\\b${anyOf(PERSON, TEAM)} (?:pode )?(?:me )?(?:ligue|contate|atenda|atender|escreva|ajude)\\b`,
    '\\bque me (?:llamen|contacten|atiendan|liguem|contatem|atendam)\\b',
    `\\b(?:dont|do not|not|no|nao) (?:want|like|quiero|quero)(?: \\p{L}+){0,4} ${BOT}\\b`,
    ALONE,
  ].join('|'),
  'gu',
);
/** Right before the request: the customer does not want a person, or has already talked to one. */
const NEGATED = new RegExp(
  `\\b${anyOf(
    'dont|do not|didnt|did not|not|never|without|no need|instead of|rather than|managed|was able',
    'no|nunca|sin|tampoco|pude',
    'nao|nem|sem|consegui',
  )}(?: \\p{L}+){0,3} ?$`,
  'u',
);
/** A request in Portuguese, where "no" is "in the": "estou no site e quero falar com um atendente". */
const IN_PORTUGUESE =
  /\b(?:falar|atendid[oa]|para|pra|pro|com|pessoa|atendente|quero|queria|gostaria|preciso|prefiro)\b/;
/** "In the", and not "no quiero", "no preciso". */
const NO_BEFORE_PLACE =
  /\bno (?!(?:quiero|quero|queria|quisiera|preciso|prefiro|gostaria|necesito|puedo)\b|$)/g;
/** With these words, a negation means something else: "I do not understand, so I want …". */
const NOT_NEGATED = /\b(?:why|por ?que|understand|entiendo|entendo|puedo|logro|consigo)\b/;

function matchesRequest(text: string): boolean {
  const folded = foldCase(text).replace(/[^\S\n]+/g, ' ');
  return [...folded.matchAll(REQUESTS)].some(({ index, 0: request }) => {
    const before = folded.slice(Math.max(0, index - 80), index);
    const written = before.split(/[.,;:!?\n]/).at(-1)!;
    const clause = IN_PORTUGUESE.test(request) ? written.replaceAll(NO_BEFORE_PLACE, '') : written;
    return !NEGATED.test(clause) || NOT_NEGATED.test(clause);
  });
}

/**
 * Whether the customer asks for a person. "I don't want to talk to a person" does not.
 * @param phrases the workspace's own phrases; any of them in the text counts as a request
 */
export function wantsPerson(text: string, phrases: readonly string[] = []): boolean {
  if (matchesRequest(text)) return true;
  const words = ` ${wordsOf(text).join(' ')} `;
  return phrases.some((phrase) => {
    const wanted = wordsOf(phrase).join(' ');
    return wanted !== '' && words.includes(` ${wanted} `);
  });
}

/** Only so much of the unanswered messages is read, the newest first. */
const MAX_UNANSWERED_CHARACTERS = 16_384;

/** Whether one of the messages asks for a person. @param messages the oldest first */
export function anyAsksForPerson(
  messages: readonly { readonly text: string }[],
  phrases: readonly string[] = [],
): boolean {
  let read = 0;
  for (const { text } of messages.toReversed()) {
    if (read >= MAX_UNANSWERED_CHARACTERS) return false;
    if (wantsPerson(text, phrases)) return true;
    read += text.length;
  }
  return false;
}
