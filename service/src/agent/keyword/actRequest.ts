import type { AgentTool } from '../agentModel.ts';
import { foldCase } from '../words.ts';
import { actsOf, type Act } from './acts.ts';

/**
 * Whether a customer asks for an act, and does not ask or tell about it. A clause has to begin with
 * the request, and everything up to the act has to be known; what is not known is no request.
 */

interface Clause {
  readonly words: string;
  /** Right before a question mark. */
  readonly isQuestion: boolean;
  /** After "and": what is said before may govern it. */
  readonly isJoined: boolean;
  /** After "but". */
  readonly isCaveat: boolean;
}

const POLITE = 'please|pls|plz|kindly|por favor|porfavor|porfa|pfv|pf|favor de|favor';

const IS_POLITE = new RegExp(`\\b(?:${POLITE})\\b`);

/** What may stand before a request and says nothing about it. */
const SOFT = new RegExp(
  `^(?:(?:${POLITE}|hi|hello|hey|there|hola|oi|ola|ok|okay|yes|yeah|yep|sure|sim|well|bueno|dale|vale|then|now|so|just|also|entonces|entao|tambien|tambem|ahora|agora|lets|instead|thanks|thank you|gracias|team|all|good (?:morning|afternoon|evening|day)|buen(?:os|as)? (?:dias?|tardes|noches)|bom dia|boa (?:tarde|noite)|go ahead) )+`,
);

const MANNER = `(?: (?:${POLITE}|just|really|also|now|still|maybe|help me|us|guys|ahora|agora|tambien|tambem|usted|ustedes))*`;

/** "I want to", before an act. */
const WANTS = new RegExp(
  `^(?:(?:i|we)${MANNER} (?:want|need|wish|would like|would love|wanna)|id (?:like|love)|wed like|im (?:looking|writing|hoping)|i am (?:looking|writing|hoping)|want|need)${MANNER}(?: for)?(?: (?:you|u|someone))?(?: to)?${MANNER} |` +
    `^(?:yo |nosotros )?(?:quiero|queremos|quisiera|quisieramos|queria|necesito|necesitamos|deseo|solicito|requiero|me gustaria|(?:les? |te )?(?:pido|ruego))${MANNER}(?: que)?${MANNER}(?: (?:me|nos|lo|la|los|las|se))?(?: (?:lo|la|los|las))? |` +
    `^(?:eu |nos )?(?:quero|queremos|queria|gostaria|preciso|precisamos|desejo|necessito|solicito|peco)(?: de)?${MANNER}(?: que)?(?: (?:voces?|vcs?))?${MANNER}(?: (?:me|nos|o|a))? `,
);

/** "Can you", before an act: a request, with a question mark too. */
const ASKS = new RegExp(
  `^(?:can|could|would) (?:you|u|ya|someone|somebody)${MANNER} |^will you (?:please|pls) |` +
    `^(?:usted |ustedes )?(?:(?:me|nos|lo|la|los|las) ){0,2}(?:puedes?|podes|pueden|podrias?|podrian)${MANNER}(?: (?:me|nos))? |` +
    `^(?:(?:voces?|vcs?) )?(?:me |nos )?(?:podes?|podem|poderia|poderiam)(?: (?:voces?|vcs?))?${MANNER}(?: (?:me|nos))? |` +
    `^(?:me|nos)(?: (?:lo|la|los|las))? `,
);

const MIND = /^(?:would|do) you mind (?:please )?/;

const TO_GET =
  '(?:(?:to )?(?:make|get|have|request|receive|do|ask for|place|hacer|pedir|solicitar|tener|sacar|obtener|recibir|fazer|ter|receber|obter|marcar) )?';
const A_NEW = new RegExp(
  `^${TO_GET}(?:an?|another|new|una?|otra?|uma?|outra?) (?:new |full |nueva? |nova? )?`,
);
const A_OR_THE = new RegExp(
  `^${TO_GET}(?:an?|my|the|another|una?|el|la|los|las|mi|mis|o|a|meu|minha|uma?) (?:full |new |complete )?`,
);

/** After "a refund" the clause ends or goes on about it; "a refund policy" is something else. */
const AFTER_NOUN =
  /^(?:$|(?:for|of|on|to|at|in|from|with|because|please|pls|now|today|tomorrow|asap|and|it|that|de|del|para|por|en|a|al|da|do|das|dos|no|na|em|pra|y|e|porque|hoy|hoje|manana|amanha|this|next)\b|\d)/;

// ---- What turns a request into something else

/** In the sentence: a condition, and what somebody else said. */
const REPORTED =
  /\b(?:if|whether|unless|in case|provided|assuming|suppose|supposing|imagine|hypothetically|what happens|told|said|says|saying|asked|heard|read|wrote|promised|claims?|according|supposed|thought|en caso|a menos que|suponiendo|supongamos|suponga|que pasa|que pasaria|dijo|dijeron|dicen|dice|dijiste|decia|escribio|prometio|prometieron|segun|caso|suponha|o que acontece|disse|disseram|falou|falaram|diz|dizem|prometeu|prometeram)\b/;
const IF = /^(?:e )?(?:si|se) (?!please\b)/;

/** In the clause: over, not now, or a question about it. */
const NOT_NOW =
  /\b(?:already|ya|ja|later|eventually|someday|some day|one day|next time|in the future|mas tarde|mas adelante|mais tarde|mais adiante|despues|luego|depois|futuro|algum dia|algun dia|how|why|what|como|por que|cuanto|quanto|cual|qual|se|si|yet|ever|fees?|polic(?:y|ies)|costs?|penalty|free|possible|allowed|takes|tiene|tienen|tem|cuesta|custa|costo|custo|multa|gratis|posible|possivel|politicas?|taxa|not|never|nunca|jamas)\b/;

/** In the clause: about what the act is like, or how it went. */
const ABOUT_IT =
  /\b(?:fail(?:s|ed)|denied|errors?|button|doesnt|didnt|wont|isnt|gives?|without|automatically|anytime|any time|always|online|situation|by mistake|error|boton|botao|falla|fallo|falha|falhou|sin|sem|siempre|sempre|cada|toda vez|automaticamente|cualquier|qualquer|web|site|sitio|tu|tua|teu|los (?:lunes|martes|miercoles|jueves|viernes|sabados|domingos))\b/;

/** Beside the request: what makes it a question after all, or tells that it was made before. */
const UNSURE =
  /\b(?:no (?:lo )?se|dont know|do not know|nao sei|not sure|no estoy segur[oa]|nao tenho certeza|dudas?|duvidas?|sigue[ns]? cobr\p{L}*|me cobr(?:an|aron|aram)|still (?:charg\p{L}*|being|get)|continuam? (?:me )?cobr\p{L}*)\b/u;
const TIMED =
  /\b(?:when|once|until|till|after|before|cuando|quando|hasta|antes|ate que|assim que|en cuanto|apenas)\b/;
const OVER =
  /\b(?:yesterday|ayer|anoche|ontem|pero|but|mas|siguen?|sigo|me cobraron|ainda|todavia|aun|hace|last)\b/;

/** Anywhere: it was not meant. */
const TAKEN_BACK =
  /\b(?:just|only) (?:asking|wondering|kidding|curious)|\bsolo (?:pregunto|preguntaba|una pregunta)|\b(?:so|apenas) (?:pergunto|perguntando|curiosidade)|\b(?:es|era) broma|\bbrincadeira|\bnever ?mind|\bforget it|\bnot yet|\b(?:todavia|aun) no|\bainda nao|\bhypothetical/;

/** Questions beside a request that ask nothing of their own. */
const TAG = new RegExp(
  `^(?:(?:${POLITE}|ok|okay|right|yes|hi|hello|hola|oi|ola|hey|si|sim|vale|dale|ta|ta bom|ta bien|esta bien|how are you(?: doing)?|hows it going|que tal|como (?:esta|estas|estan|vai|vao|andas?)|todo bien|tudo bem|(?:can|could|would|will) (?:you|u|someone|anyone)(?: (?:help|assist|do (?:that|it|this))(?: me)?)?|(?:are you|anyone|is anyone|is anybody) (?:there|here)|(?:me )?(?:puedes?|podes|pueden|podrias?|pode|podem|poderia)(?: (?:me )?(?:ayudar|ayudarme|ajudar|hacerlo|fazer isso))?|me (?:ayudas?|ayudan|ajudas?|ajudam)|(?:hay )?alguien ahi|tem alguem ai|i have a question|with (?:this|that)|con esto|com isso|me|it|that|thanks|gracias|obrigad[oa]) ?)+$`,
);

const QUESTION_START =
  /^(?:how|what|whats|why|when|whether|can i|can we|could i|could we|may i|should i|shall i|do i|do you|does|did|is|are|am i|was|were|will i|will you|will it|have you|has|would it|would i|como|que (?:pasa|pasaria|sucede|ocurre|tengo|debo|hago|es)|por que|pq|cuando|quando|cuantos?|cuantas?|cuanta|quantos?|quantas?|cual|qual|where (?:is|are|was|do|can)|donde|onde|quien|quem|o que|puedo|podemos|posso|debo|devo|tengo que|tenho que|es posible|e possivel|da para|da pra|tem como|hay que|hay forma|hay manera)\b/;

/**
 * A text of more clauses tells a story that is not read to its end: a person does. Each clause is
 * held against each acting tool.
 */
const MAX_CLAUSES = 100;

/**
 * The tool acts, and the customer does not ask for that. A tool that only looks something up is
 * never out of place.
 */
export function isUncalledFor(tool: AgentTool, text: string): boolean {
  const acts = actsOf(tool);
  return acts.length > 0 && !asksFor(acts, text);
}

/**
 * An answer to a question for an acting tool that says more than the answer: a question of its own,
 * or second thoughts.
 */
export function hasDoubts(tool: AgentTool, answer: string): boolean {
  const acts = actsOf(tool);
  if (acts.length === 0) return false;
  const sentences = sentencesOf(answer);
  const clauses = sentences.flat();
  return (
    clauses.length > MAX_CLAUSES ||
    clauses.some(
      ({ words }) =>
        TAKEN_BACK.test(words) ||
        /\b(?:already|ya no|nao quero mais)\b/.test(words) ||
        REPORTED.test(words) ||
        IF.test(`${words} `),
    ) ||
    clauses.some((clause) => isOtherQuestion(clause)) ||
    clauses.some(
      (clause) => mentions(acts, clause.words) && !acts.some((act) => isRequest(act, clause)),
    )
  );
}

function asksFor(acts: readonly Act[], text: string): boolean {
  const sentences = sentencesOf(text);
  const clauses = sentences.flat();
  if (clauses.length > MAX_CLAUSES || clauses.some(({ words }) => TAKEN_BACK.test(words)))
    return false;
  const requests = new Set(
    sentences
      .filter(
        (sentence) =>
          !sentence.some(
            ({ words }) => REPORTED.test(words) || (IF.test(`${words} `) && words !== 'si'),
          ),
      )
      .flatMap((sentence) =>
        sentence.filter((clause) => acts.some((act) => isRequest(act, clause))),
      ),
  );
  if (requests.size === 0) return false;
  const from = clauses.findIndex((clause) => requests.has(clause));
  return clauses.every(
    (clause, at) =>
      !UNSURE.test(clause.words) &&
      (requests.has(clause) ||
        (!isOtherQuestion(clause) &&
          !mentions(acts, clause.words) &&
          !(clause.isCaveat && at > from))),
  );
}

const isOtherQuestion = ({ words, isQuestion }: Clause): boolean =>
  !TAG.test(words) && (QUESTION_START.test(words) || (isQuestion && /[a-z]{2}/.test(words)));

/** What brings things is done with common verbs: "I made an order" is no mention of it. */
const mentions = (acts: readonly Act[], words: string): boolean =>
  words
    .split(' ')
    .some((word, at, all) =>
      acts.some(
        (act) =>
          !act.bringsThings &&
          act.mention.test(word) &&
          !/^(?:an?|the|my|your|this|that|un|una|el|la|mi|su|o|meu|minha|uma?|de|del|da|do)$/.test(
            all[at - 1] ?? '',
          ),
      ),
    );

function isRequest(act: Act, { words, isQuestion, isJoined }: Clause): boolean {
  const plain = words.replace(SOFT, '');
  const isPolite = IS_POLITE.test(words);
  const [, wanted] = splitAfter(plain, WANTS);
  const [, asked] = splitAfter(plain, ASKS);
  const [, minded] = splitAfter(plain, MIND);
  const [first = ''] = plain.split(' ');
  const isBare = act.bare.test(first) && !isJoined;
  const isSaid =
    (wanted !== null &&
      !isQuestion &&
      (startsWith(wanted, act.framed) || wantsNoun(act, wanted) || wantsDone(act, wanted))) ||
    (asked !== null && startsWith(asked, act.framed)) ||
    (asked !== null &&
      /^(?:give|get|dar|darme|da|dan|hacer|hacerme|hace|haces|fazer|faz|make|do) /.test(asked) &&
      wantsNoun(act, asked.replace(/^\S+ (?:me |us )?/, ''))) ||
    (minded !== null && startsWith(minded, act.gerund)) ||
    (isBare && (isPolite || (!isQuestion && isCommand(act, plain)))) ||
    (act.noun?.test(first) === true &&
      !isQuestion &&
      (isPolite || (act.name === 'book' && /^\S+ (?:for|para|pra)\b/.test(plain))) &&
      AFTER_NOUN.test(plain.slice(first.length + 1)));
  if (
    !isSaid ||
    NOT_NOW.test(words) ||
    ABOUT_IT.test(words) ||
    (isBare &&
      /^\S+ (?:\S+ ){0,5}(?:was|were|is|has|had|does|did)\b/.test(plain) &&
      !/\b(?:that|which|it|because|as)\b/.test(plain))
  )
    return false;
  if (!act.hasTime && TIMED.test(words)) return false;
  return !(mayBePast(first) && OVER.test(words));
}

/** `refund policy` and `refund for order 5` begin with a noun. */
const isCommand = (act: Act, plain: string) => {
  const [first = '', second = ''] = plain.split(' ');
  return !(
    act.noun?.test(first) === true &&
    /^(?:of|for|policy|status|time|request|requests|amount|on)$/.test(second)
  );
};

/** Without its accent, `cancelé` is written like `cancele`; `quería` may be over too. */
const mayBePast = (first: string) =>
  /e$/.test(first) && first.length > 4
    ? !/^(?:please|create|reserve|schedule|delete|remove|change|update|charge|purchase|file|make|place|issue|replace|close|freeze|disable|enable|renew)$/.test(
        first,
      )
    : first === 'queria';

const startsWith = (words: string, form: RegExp) => form.test(words.split(' ')[0]!);

function wantsNoun(act: Act, wanted: string): boolean {
  const start = act.hasTime ? A_NEW : A_OR_THE;
  const rest = wanted.replace(start, '');
  if (act.noun !== null) {
    const [first = ''] = rest.split(' ');
    if (act.noun.test(first) && AFTER_NOUN.test(rest.slice(first.length + 1))) return true;
  }
  return act.bringsThings && start.test(wanted);
}

/** "(I want) my order A-5 cancelled". */
function wantsDone(act: Act, wanted: string): boolean {
  const words = wanted.split(' ');
  const at = words.findIndex((word) => act.participle.test(word));
  return (
    at > 0 &&
    at <= 7 &&
    /^(?:my|the|this|that|it|order|subscription|booking)$/.test(words[0]!) &&
    /^(?:please|pls|now|today|asap|immediately|$)/.test(words[at + 1] ?? '')
  );
}

function splitAfter(
  words: string,
  frame: RegExp,
): readonly [string, string] | readonly [null, null] {
  const match = frame.exec(`${words} `);
  return match === null ? [null, null] : [match[0], words.slice(match[0].length)];
}

// ---- Sentences and clauses

/**
 *  `cancelé` and `canceló` tell what is over: a sign at their end keeps them apart from `cancele` and `cancelo`. `sí` is not `si`.
 */
const folded = (text: string) =>
  foldCase(
    text
      .slice(0, 8_192)
      .normalize('NFC')
      .replace(/(?<=\p{L}{3})[éó](?!\p{L})/giu, '$&0')
      .replace(/(?<!\p{L})sí(?!\p{L})/giu, 'yes'),
  );

const JOINING =
  /(?<!\bgo ahead) (?=(?:and|y|e|so|but|then|pero|entonces|entao|porem|asi que|por eso|mas(?! (?:tarde|adelante))) )/;

type Sentences = readonly (readonly Clause[])[];

/** A text is asked about for each of the acting tools in turn, and is taken apart once. */
let last: { readonly text: string; readonly sentences: Sentences } | undefined;

function sentencesOf(text: string): Sentences {
  if (last?.text !== text) last = { text, sentences: takeApart(text) };
  return last.sentences;
}

const takeApart = (text: string): Sentences =>
  folded(text)
    .split(/(?<=[!?;\n])|(?<=\.)(?=\s|$)/)
    .map((sentence) => clausesOf(sentence))
    .filter((clauses) => clauses.length > 0);

function clausesOf(sentence: string): readonly Clause[] {
  const parts = sentence
    .replace(/\b(please|por favor|porfa|pls)\s*,/g, '$1 ')
    .replace(/\bgo ahead and\b/g, 'go ahead')
    .split(/[,:()"“”«»¿¡–—…]+|\s-\s/)
    .map((part) => part.replace(/[^\p{L}\p{N}]+/gu, ' ').trim())
    .filter((part) => part !== '');
  const isAsking = /\?\s*$/.test(sentence);
  return parts.flatMap((part, at) =>
    part.split(JOINING).map((piece, joint, pieces) => {
      const words = piece.replace(
        /^(?:and|y|e|so|but|then|pero|entonces|entao|porem|asi que|por eso|mas) /,
        '',
      );
      return {
        words,
        isJoined: /^(?:and|y|e|mas) /.test(piece),
        isCaveat: /^(?:but|pero|porem|mas) /.test(piece),
        isQuestion: isAsking && at === parts.length - 1 && joint === pieces.length - 1,
      };
    }),
  );
}
