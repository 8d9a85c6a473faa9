import { foldCase, wordSet, wordsOf } from './words.ts';

/**
 * What a customer asks for in so many words, told without a model: a person, and "yes" to an
 * offered person. Patterns are for folded clauses (lower case, no accents, one space between
 * words), and a space between two words may be missing.
 */

/** Alternatives, as written: `a|b c` → one group. A space may be missing in what is read. */
const any = (...alternatives: string[]) => `(?:${alternatives.join('|')})`.replaceAll(' ', ' ?');

// ---- English

const EN_PERSON = any(
  '(?:(?:real|live|actual|human|other) )?(?:human beings?|humans?|persons?|someone|somebody|agents?|representatives?|reps?|operators?|advis[eo]rs?|staff|attendant)',
  '(?:some|any)(?:one|body) (?:real|human|else|there|from)',
  'managers?|supervisors?|colleague|(?:member of|someone (?:from|on|in)) (?:the|your) (?:team|staff)|(?:team|staff) member',
  'customer (?:service|support|care)|(?:your|the) (?:team|support)|real people|people in charge',
);
const EN_A = any('(?:a|an|any|the|one of your|your|another|some)(?: (?:real|live|actual|human))*');
const EN_TALK = any(
  '(?:talk|speak|chat|communicate) (?:directly )?(?:to|with)|get in touch with|(?:contact|reach)',
);
const EN_TRANSFER = any(
  '(?:connect|transfer|put|pass|forward|escalate|switch|redirect|refer|hand)(?: me| us| this| it)?(?: over| on| through)? (?:to|with)',
  '(?:get|give|find|call|send) (?:me|us)',
);
const EN_DEAL = any(
  '(?:rather|prefer to|want to|wanna|like to|love to|need to|let me) deal (?:directly )?with',
);
const EN_WANT = any(
  '(?:want|need|prefer|require|demand|wanna have|id like|would like|like to have)',
);
const EN_WANTED = any(
  '(?:real |live |actual )?(?:human|person|representative|rep|operator|agent|human being)',
  'some(?:one|body) (?:real|human)',
  'real people',
);

// ---- Spanish

const ES_PERSON = any(
  '(?:ser|asistente|agente) human[oa]|(?:verdader[oa]|otra|misma) persona',
  'personas?(?: (?:real|humana|fisica|de verdad|de carne y hueso))?',
  'alguien(?: (?:real|human[oa]|de verdad|del equipo|mas))?',
  'human[oa]s?|ases[oa]ra?(?:es)?|agentes?|representantes?|operador(?:es|a)?|ejecutiv[oa]|encargad[oa]|gerente|supervisora?|responsable|emplead[oa]|vendedora?|companer[oa]|personal',
  '(?:atencion|servicio) (?:al|a) (?:cliente|clientes|usuario)|(?:el |su )?equipo|soporte',
);
const ES_A = any('(?:una?|algun|alguna|el|la|los|las|su|sus|otra?|con)(?: (?:verdader[oa]|otra))?');
const ES_TALK = any(
  '(?:hablar|platicar|charlar|conversar|chatear|comunicar|comunicarme|comunicarse|contactar|contactarme|tratar)(?: directamente| por favor)? con',
  'contactar a',
);
const ES_TRANSFER = any(
  '(?:pasa|pase|pasan|pasen|pasas|pasar|pasame|paseme|pasenme|pasarme|comunica|comunicas|comuniquen|comunicame|comuniqueme|comuniquenme|comunicarme|conecta|conecte|conectame|conecteme|conectarme)(?: por favor)? (?:con|a)',
  '(?:transfiere|transfiera|transfieran|transfiereme|transfierame|transferir|transferirme|transfieres|deriva|derive|deriven|derivame|deriveme|derivar|derivarme|ponme|pongame|ponganme|ponerme|mandame|mandeme)(?: por favor)? (?:con|a)',
);
const ES_WANT = any(
  '(?:quiero|quisiera|queria|necesito|prefiero|deseo|solicito|exijo|dame|deme|denme|me das?|pido)(?: (?:a|que sea|hablarle a))?',
);
const ES_WANTED = any(
  '(?:persona|human[oa]|asesora?|agente|operadora?|representante|ejecutiv[oa])(?: (?:human[oa]|real|de verdad))?',
  'alguien (?:real|human[oa]|de verdad)',
);
const ES_SERVES = any('(?:me )?(?:atienda|llame|contacte|ayude|responda|conteste|escriba)');

// ---- Portuguese

const PT_PERSON = any(
  '(?:ser|assistente|agente) human[oa]|pessoas?(?: (?:real|humana|de verdade|de carne e osso))?|alguem(?: (?:real|human[oa]|de verdade|da equipe|mais))?',
  'human[oa]s?|atendentes?|agentes?|representantes?|operador(?:a|es)?|consultora?|assessora?|gerente|supervisora?|responsavel|funcionari[oa]|vendedora?|colega|especialista',
  'atendimento|suporte|(?:a |sua )?equipe',
);
const PT_A = any('(?:uma?|algum|alguma|o|a|os|as|seu|sua|outra?|um outro)(?: outra?)?');
const PT_TALK = any(
  '(?:falar|conversar|tratar|me comunicar|comunicar|entrar em contato|ser atendid[oa])(?: diretamente| por favor)? (?:com|por)',
);
const PT_TRANSFER = any(
  '(?:passa|passe|passar|transfere|transfira|transferir|conecta|conecte|conectar|encaminha|encaminhe|encaminhar|direciona|direcione|coloca|coloque|coloque em contato|coloca em contato|bota|bote)(?: me| a ligacao| a conversa)?(?: por favor)? (?:para|pra|pro|com|ao?)',
  '(?:chama|chame|chamar)',
);
const PT_WANT = any(
  '(?:quero|queria|gostaria|preciso|prefiro|desejo|necessito|solicito|exijo|me da|me de)(?: (?:de|que seja))?',
);
const PT_WANTED = any(
  '(?:pessoa|human[oa]|atendente|agente|operadora?|representante|consultora?)(?: (?:human[oa]|real|de verdade))?',
  'alguem (?:real|human[oa]|de verdade)',
);
const PT_SERVES = any('(?:me )?(?:atenda|ligue|contate|ajude|responda|chame|escreva)');

/**
 * After "I want a person" comes the end of the clause or a word that goes on about it, never a
 * noun.
 */
const GOES_ON = any(
  '$|please|pls|now|here|asap|not|instead|today|right|rather|and|or|thanks|thank|because|i|already|immediately|who|that|on|to (?:talk|speak|help|answer|assist|call|contact|chat|reply|respond|attend)',
  '(?:ahora|ya|aqui|por|hoy|y|o|que|gracias|para (?:hablar|que me)|no|urgente|porque|me|real|de (?:verdad|ventas|soporte|atencion|su))',
  '(?:agora|ja|e|ou|obrigad[oa]|pra|para (?:falar|me)|nao|pfv|por|do (?:suporte|atendimento|time))',
);

/** After "can you transfer me" comes nothing: money is transferred too. */
const ENDS = any('(?:$|por favor|porfa|agora|ahora|ya|ja|pfv|aqui)(?: |$)');

const PATTERNS: readonly RegExp[] = [
  `${EN_TALK} ?(?:${EN_A} ?)?${EN_PERSON}\\b(?! (?:resources?|rights?|trainer))`,
  `${EN_DEAL} ?(?:${EN_A} ?)?${EN_WANTED}\\b(?= ?${GOES_ON})`,
  `${EN_TRANSFER} ?(?:${EN_A} ?)?${EN_PERSON}\\b(?! (?:resources?|rights?|size|number))`,
  `${EN_WANT} ?(?:${EN_A} )?${EN_WANTED}\\b(?= ?${GOES_ON})`,
  any(
    'human (?:agent|support|operator|assistance|attendant|representative|help)|live (?:agent|person|operator|representative)|real (?:person|human|agent) (?:please|pls|now)',
  ),
  any(
    'is there (?:a|an|any|some)(?:one|body)? ?(?:real|human|live|actual) ?(?:person|human|being|agent|there|here|i can)?',
    'is there (?:a person|someone|somebody|anyone|anybody) (?:i can|to|we can) (?:talk|speak|chat)',
  ),
  any(
    '(?:can|could|would|have|let|please have) (?:someone|somebody|a person|a human|an agent|a representative|a colleague|(?:one|any) of your (?:colleagues|team|staff|agents))(?: from your team| please)? (?:call|contact|phone|ring|reach|write) (?:to )?(?:me|us)',
  ),
  `${ES_TALK} ?(?:${ES_A} ?)?${ES_PERSON}\\b`,
  `${ES_TRANSFER} ?(?:${ES_A} ?)?${ES_PERSON}\\b`,
  `${ES_WANT} ?(?:${ES_A} )?${ES_WANTED}\\b(?= ?${GOES_ON})`,
  any(
    '(?:atencion|agente|asesor|asesora|asistencia|soporte|ayuda|operador|trato) (?:humana|humano|personalizada)',
  ),
  `${any('que (?:me )?(?:alguien|una persona|un humano|un asesor|un agente)')} ?${ES_SERVES}\\b`,
  `que ?${ES_SERVES} ?${any('(?:alguien|una persona|un humano|un asesor|un agente)')}\\b`,
  any(
    'hay (?:alguien|alguna persona|algun humano|un humano|una persona) (?:real|humana|de verdad|que (?:me )?(?:pueda |puede )?(?:atender|atienda)|con quien|con la que)',
  ),
  `${any('(?:need|want|would like|id like) (?:some )?(?:help|assistance|support) from (?:a|an|another|some)')} ?${EN_WANTED}\\b`,
  `${any('(?:necesito|quiero|quisiera|prefiero|deseo|me gustaria) (?:la )?(?:ayuda|asistencia|atencion) (?:de|por) (?:una?|otra|alguna?)')} ?${ES_WANTED}\\b`,
  any(
    '(?:me )?(?:puede|pueden|podria|podrian) (?:atender|atenderme|llamar|llamarme|contactar|contactarme) (?:alguien|una persona|un humano|un asesor|una asesora|un agente|algun humano|alguna persona)',
  ),
  any(
    '(?:me )?(?:puede|pueden|podria|podrian) (?:ayudar|ayudarme) (?:una persona|un humano|un asesor|una asesora|un agente)',
  ),
  any(
    '(?:alguien|una persona|un humano|un asesor|una asesora|un agente) (?:me )?(?:puede|podria) (?:atender|atenderme|llamar|llamarme|contactar|contactarme)',
  ),
  `${any('(?:prefiero|quiero|quisiera|necesito|deseo|pido|solicito|me gustaria) que me (?:llamen|contacten|atiendan)')}\\b(?= ?(?:${GOES_ON}|al|a|manana|cuando|lo antes|cuanto antes|mejor)\\b)`,
  `${any('(?:me (?:puede|puedes|pueden|podria|podrias|podrian) (?:transferir|derivar|comunicar)|(?:puede|puedes|pueden|podria|podrias|podrian) (?:transferirme|derivarme|comunicarme))')}\\b(?= ?${ENDS})`,
  `${PT_TALK} ?(?:${PT_A} ?)?${PT_PERSON}\\b`,
  `${PT_TRANSFER} ?(?:${PT_A} ?)?${PT_PERSON}\\b`,
  `${PT_WANT} ?(?:${PT_A} )?${PT_WANTED}\\b(?= ?${GOES_ON})`,
  `${any('(?:preciso|quero|queria|gostaria|necessito|prefiro)(?: de| da)? (?:a )?(?:ajuda|assistencia|atencao) (?:de|por) (?:uma?|outra|alguma?)')} ?${PT_WANTED}\\b`,
  any(
    '(?:pode|podem|poderia|poderiam) (?:me )?(?:atender|ajudar|ligar) (?:uma pessoa|um humano|um atendente)',
  ),
  any(
    '(?:alguem|uma pessoa|um humano|um atendente) (?:pode|poderia) (?:me )?(?:atender|ligar|contatar)',
  ),
  `${any('(?:prefiro|quero|queria|gostaria|preciso|desejo|peco)(?: de)? que me (?:liguem|contatem|atendam)')}\\b(?= ?(?:${GOES_ON}|amanha|hoje|quando|o quanto antes)\\b)`,
  `${any('(?:pode|podem|poderia|poderiam|consegue) (?:me )?transferir(?: me)?')}\\b(?= ?${ENDS})`,
  any(
    '(?:atendimento|atendente|suporte|agente|ajuda|operador|assistencia) (?:humana|humano|pessoal)',
  ),
  `${any('que (?:alguem|uma pessoa|um humano|um atendente)')} ?${PT_SERVES}\\b`,
  any(
    'tem (?:alguem|alguma pessoa|algum humano|um humano|uma pessoa)(?: ai)? (?:real|humana|de verdade|que (?:me )?(?:possa |pode )?(?:atender|atenda)|com quem|para falar|pra falar)',
  ),
].map((pattern) => new RegExp(`\\b${pattern}`, 'g'));

/** A clause that is nothing else. A bare "a person" is not among them: it may say how many come. */
const ALONE = new RegExp(
  `^${any(
    '(?:an? )?(?:human(?: being)?|agent|representative|operator|real person|real human|customer (?:service|support)|someone real|speak (?:to|with) (?:a )?human)',
    '(?:una? )?(?:human[oa]|ser humano|ases[oa]ra?|agente|operadora?|representante|persona (?:real|humana|de verdad)|alguien (?:real|de verdad)|servicio al cliente|atencion al cliente)',
    '(?:uma? )?(?:human[oa]|ser humano|atendente|operadora?|pessoa (?:real|humana|de verdade)|alguem (?:real|de verdade)|consultora?)',
  )}(?: (?:please|pls|now|por favor|porfa|ya|ahora|agora|pfv))*$`,
);

/** With a please, a text that is nothing but "a person" counts nobody: "one person please" does. */
const ALONE_AND_POLITE = new RegExp(
  `^${any('(?:please )?(?:a |another )?(?:person|human|someone|somebody) (?:please|pls)|please (?:a )?(?:person|human)|(?:por favor )?(?:persona|pessoa|alguien|alguem) (?:por favor|porfa|pfv)|por favor (?:persona|pessoa)')}$`,
);

/** Who does not want the program wants a person. */
const NO_PROGRAM = new RegExp(
  `\\b${any(
    '(?:dont|do not|not) (?:want|wanna|like|wish)(?: to)?(?: (?:talk|speak|chat|deal)(?: to| with)?)? (?:an?|the|this|your)? ?(?:bot|robot|machine|chatbot|computer|automated)',
    'no (?:quiero|deseo|me gusta)(?: (?:hablar|tratar|chatear|seguir) con)? (?:una?|el|la|este|esta)? ?(?:bot|robot|maquina|chatbot|grabacion)',
    'nao (?:quero|desejo|gosto de)(?: (?:falar|tratar|conversar) com)? (?:uma?|o|a|esse|este|essa)? ?(?:bot|robo|maquina|chatbot)',
  )}\\b`,
);

/** Right before a request, these turn it round: a negation, or something that is over. */
const TURNED_ROUND = new RegExp(
  `(?<!\\b(?:why|por ?que|porque|pq) )\\b${any(
    'dont|do not|doesnt|does not|didnt|did not|not|never|cant|cannot|wont|without|no need|instead of|rather than|if i|when i|after i|before i|after|before|did i|did you|used|managed|got|was able|were able',
    'no|nunca|jamas|tampoco|sin|ayer|pude|pudimos|logre|acabo|despues|antes|al|en vez|en lugar|ya',
    'nao|nem|sem|depois|antes|acabei|em vez|consegui|ao|ontem|ja',
  )}(?: ${any(
    'want|need|wish|like|to|of|really|have|be|able|wanna|would|even|actually|prefer|me|us|yet|let|having|it',
    'quiero|quisiera|necesito|deseo|gustaria|prefiero|puedo|hace|falta|que|de|tengo|ganas|es|necesario|me|te|se|lo|la|pido|quise|queria|pasen|hablar',
    'quero|queria|preciso|desejo|gostaria|prefiro|posso|precisa|por|tenho|vontade|e|necessario',
  )}){0,5} ?$`,
);

/** Shorter ones hold no request for anybody: `agent` is one of the shortest that do. */
const MIN_CLAUSE_CHARACTERS = 5;

/**
 * Of a text of more clauses, the first half of so many and the last are read: what is asked for
 * stands at either end.
 */
const MAX_CLAUSES = 80;

function clausesOf(text: string): readonly string[] {
  const clauses = foldCase(text)
    .split(/[.,;:!?¿¡()"\n]+|\b(?:but|pero|mas|porem|sino)\b/u)
    .map((clause) => clause.replace(/[^\p{L}\p{N}]+/gu, ' ').trim())
    .filter((clause) => clause.length >= MIN_CLAUSE_CHARACTERS);
  const each = [...new Set(clauses)];
  return each.length <= MAX_CLAUSES
    ? each
    : [...each.slice(0, MAX_CLAUSES / 2), ...each.slice(-MAX_CLAUSES / 2)];
}

function asksInClause(clause: string): boolean {
  if (ALONE.test(clause) || NO_PROGRAM.test(clause)) return true;
  return PATTERNS.some((pattern) =>
    [...clause.matchAll(pattern)].some(
      (match) => !TURNED_ROUND.test(clause.slice(Math.max(0, match.index - 80), match.index)),
    ),
  );
}

/**
 * Whether the customer asks to be served by a person, in English, Spanish or Portuguese.
 * Mentioning people is no request, and "I don't want to talk to a person" is the opposite of one.
 */
export const wantsPerson = (text: string): boolean =>
  clausesOf(text).some(asksInClause) || ALONE_AND_POLITE.test(wordsOf(text.slice(0, 60)).join(' '));

/**
 * Of messages that nobody has answered yet, so many characters are read, the newest first: a burst
 * in a chat is far shorter.
 */
const MAX_UNANSWERED_READ = 16_384;

/**
 * Whether one of the messages that nobody has answered asks for a person. @param messages the
 * oldest first
 */
export function someoneIsWanted(messages: readonly { readonly text: string }[]): boolean {
  let read = 0;
  for (const { text } of messages.toReversed()) {
    if (read >= MAX_UNANSWERED_READ) return false;
    if (wantsPerson(text)) return true;
    read += text.length;
  }
  return false;
}

/** One of these makes a short text a yes. */
const YES = wordSet(
  'yes yeah yea yep yup yess sure ok okay okey okie k please pls plz absolutely definitely certainly alright fine',
  'si sii siii sip claro dale vale bueno listo perfecto porfavor porfa obvio quiero quisiera acepto adelante afirmativo orale va desde',
  'sim simm quero pode claro isso beleza blz certeza bora aceito uhum aham gostaria positivo favor pfv perfeito otimo combinado',
);

/** These may stand beside it. */
const BESIDE_YES = wordSet(
  'i would id like love that great thats good thank thanks you a person someone somebody human to follow up with it do go ahead of course do me contact call right very much the is be nice',
  'por favor de acuerdo gracias muchas me gustaria que una persona alguien humano le eso bien esta seguimiento llamen llame contacten contacte escriban escriba den luego ya por supuesto muy amable seria bueno no hay problema yo con un asesor',
  'obrigado obrigada muito ser com por uma pessoa alguem humano um atendente ta bom tudo bem me ligue liguem contate eu que de continuidade otima ideia',
  YES,
);

/** "No" turns a yes round, but "no problem" does not: whole phrases that mean yes or nothing. */
const HARMLESS =
  /\b(?:no hay problema|no problem|sem problemas?|go ahead|of course|sounds good|why not|por que no|por que nao|com certeza|desde luego|por supuesto|de acuerdo|esta bien|esta bom|ta bom|tudo bem|do it|please do)\b/g;
const YES_PHRASE =
  /\b(?:go ahead|of course|sounds good|why not|por que no|por que nao|com certeza|desde luego|por supuesto|de acuerdo|esta bien|esta bom|ta bom|tudo bem|do it|please do|i would|id like|id love|me gustaria)\b/;

const MAX_YES_WORDS = 12;
const MAX_YES_LENGTH = 120;

/**
 * Whether a text says yes to the person it was just offered, and says nothing else: "yes, but…",
 * "no, thanks" and another question do not.
 */
export function acceptsOffer(text: string): boolean {
  if (text.length > MAX_YES_LENGTH || text.includes('?')) return false;
  const words = wordsOf(text);
  if (words.length === 0)
    return /\p{Extended_Pictographic}/u.test(text) && /[👍👌✅🙏]/u.test(text);
  if (words.length > MAX_YES_WORDS) return false;
  const folded = words.join(' ');
  const rest = wordsOf(folded.replace(HARMLESS, ' '));
  if (rest.includes('no') || !rest.every((word) => BESIDE_YES.has(word))) return false;
  return YES_PHRASE.test(folded) || words.some((word) => YES.has(word));
}
