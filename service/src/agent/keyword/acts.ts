import type { AgentTool } from '../agentModel.ts';
import { splitName, wordSet, wordsOf } from '../words.ts';

/**
 * What a tool does that cannot be taken back: the acts, and in which words a customer asks for one.
 * Verbs are kept as what they begin with; the endings that ask for something are added here.
 */
export interface Act {
  readonly name: string;
  /**
   *  `cancel`, `cancela`, `cancele`, `cancelarlo`: at the beginning of a clause, these ask for it.
   */
  readonly bare: RegExp;
  /** Those, and what stands after "me", "puede" or "quiero que": `cancelas`, `canceles`. */
  readonly framed: RegExp;
  /** `cancelling`, after "would you mind". */
  readonly gerund: RegExp;
  /** `cancelled`, after "I want my order". */
  readonly participle: RegExp;
  /**
   *  `Cancels`, `Cancela`, `cancel`, `cancelar`: how a tool's name or description says that it does so.
   */
  readonly doing: RegExp;
  /** `cancellation`, `reembolso`: "I want a …" asks for it; null where there is none. */
  readonly noun: RegExp | null;
  /** Any mention that is no noun. */
  readonly mention: RegExp;
  /** "I want the invoice" asks for a sending, "I want a ticket" for opening one. */
  readonly bringsThings: boolean;
  /** Is about a time to come: "before noon" says when the table is wanted, not when to act. */
  readonly hasTime: boolean;
}

interface Words {
  readonly name: string;
  readonly en: string;
  /** Verbs in -ar, without that ending; a second beginning before e: `pag/pagu`. */
  readonly ar?: string;
  /** Verbs in -er and -ir, with all their beginnings: `devolv:er devuelv`. */
  readonly other?: string;
  readonly nouns?: string;
  readonly bringsThings?: boolean;
  readonly hasTime?: boolean;
}

const WORDS: readonly Words[] = [
  {
    name: 'cancel',
    en: 'cancel void annul terminate end',
    ar: 'cancel anul desmarc/desmarqu termin',
    nouns: 'cancellation cancelation cancelacion cancelamento anulacion',
  },
  {
    name: 'refund',
    en: 'refund reimburse',
    ar: 'reembols reintegr estorn',
    other: 'devolv devuelv',
    nouns: 'refund reimbursement reembolso devolucion devolucao estorno reintegro',
  },
  {
    name: 'delete',
    en: 'delete remove erase clear',
    ar: 'borr elimin apag/apagu delet',
    other: 'exclu remov remuev suprim',
    nouns: 'deletion eliminacion exclusao',
  },
  {
    name: 'change',
    en: 'change update modify edit reschedule rebook move switch upgrade downgrade rename set adjust correct',
    ar: 'cambi modific/modifiqu actualiz/actualic reprogram reagend mud alter atualiz remarc/remarqu troc/troqu edit correg ajust',
    other: 'mov muev corrij corrig',
    hasTime: true,
  },
  {
    name: 'book',
    en: 'book reserve schedule',
    ar: 'reserv agend marc/marqu program',
    nouns: 'booking reservation reserva reservacion appointment cita turno agendamento',
    hasTime: true,
  },
  {
    name: 'pay',
    en: 'pay charge bill debit deposit',
    ar: 'pag/pagu cobr deposit abon',
    nouns: 'payment pago pagamento',
  },
  { name: 'buy', en: 'buy purchase order', ar: 'compr encomend orden', nouns: 'purchase' },
  {
    name: 'subscribe',
    en: 'subscribe enroll enrol',
    ar: 'assin',
    other: 'suscrib inscrev inscrib',
    nouns: 'subscription suscripcion assinatura inscripcion inscricao',
  },
  { name: 'unsubscribe', en: 'unsubscribe', ar: 'descadastr', other: 'desuscrib desinscrev' },
  {
    name: 'return',
    en: 'return exchange replace',
    ar: 'reemplaz/reemplac intercambi',
    other: 'devolv devuelv substitu',
    nouns: 'return exchange replacement devolucion devolucao reemplazo troca',
  },
  {
    name: 'transfer',
    en: 'transfer withdraw redeem donate',
    ar: 'retir don resgat canje',
    other: 'transfer transfir transfier',
    nouns: 'transfer withdrawal transferencia retiro saque',
  },
  {
    name: 'stop',
    en: 'stop pause suspend freeze block disable deactivate lock close',
    ar: 'par paus bloque desactiv desativ cerr cierr fech congel',
    other: 'suspend interromp deten',
  },
  {
    name: 'start',
    en: 'start resume renew activate reactivate enable unblock unlock extend restart reset',
    ar: 'inici reanud renov renuev activ ativ reactiv reativ habilit desbloque restablec/restablezc reinici',
    other: 'extend extiend restablec',
    nouns: 'renewal renovacion renovacao activacion ativacao',
  },
  {
    name: 'decide',
    en: 'approve reject confirm accept decline authorize authorise sign',
    ar: 'aprob aprueb rechaz/rechac confirm acept aceit autoriz/autoric firm',
  },
  {
    name: 'create',
    en: 'create open add make file register submit place apply issue process assign generate request raise log report escalate',
    ar: 'cre abr agreg/agregu agrega registr aplic/apliqu proces gener levant reclam reporta escal cadastr adicion process solicit',
    other: 'abr hac hag faz fac emit aplic añad anad pon',
    bringsThings: true,
  },
  {
    name: 'send',
    en: 'send resend ship dispatch deliver email forward notify invite',
    ar: 'envi mand notific/notifiqu despach reenvi entreg/entregu invit',
    other: 'remet',
    bringsThings: true,
  },
];

const SILENT = '(?:me|te|lo|la|los|las|le|les|nos|se|melo|mela|noslo|nosla)';

const list = (words = '') => [...new Set(words.split(' ').filter((word) => word !== ''))];
const either = (parts: readonly string[]) => `(?:${parts.length === 0 ? '(?!)' : parts.join('|')})`;
const whole = (parts: readonly string[]) => new RegExp(`^${either(parts)}$`);

const isDoubled = (verb: string) =>
  ['cancel', 'annul', 'submit', 'set', 'log', 'enrol', 'stop', 'transfer'].includes(verb);
const english = {
  gerund: (verb: string) =>
    isDoubled(verb) ? `${verb}${verb.at(-1)!}?ing` : `${verb.replace(/e$/, '')}ing`,
  participle: (verb: string) =>
    ({
      pay: 'paid',
      buy: 'bought',
      make: 'made',
      send: 'sent',
      withdraw: 'withdrawn',
      freeze: 'frozen',
      set: 'set',
    })[verb] ??
    (isDoubled(verb)
      ? `${verb}${verb.at(-1)!}?ed`
      : verb.replace(/e$/, '').replace(/(?<=[^aeo])y$/, 'i') + 'ed'),
  third: (verb: string) =>
    /(?:s|sh|ch|x)$/.test(verb) ? `${verb}es` : verb.replace(/(?<=[^aeo])y$/, 'ie') + 's',
};

function actOf({ name, en, ar, other, nouns, bringsThings = false, hasTime = false }: Words): Act {
  const verbs = list(en);
  const inAr = list(ar)
    .map((each) => each.split('/'))
    .map(([a = '', e = a]) => ({ a, e }));
  const inOther = list(other);
  const commands = [
    ...inAr.flatMap(({ a, e }) => [
      `${a}(?:ar?|en)${SILENT}?`,
      `${a}ar`,
      `${e}(?:e|en|em)${SILENT}?`,
    ]),
    ...inOther.map((root) => `${root}(?:er|ir|e|a|an|am|en|em|i)${SILENT}?`),
  ];
  const yours = [
    ...inAr.flatMap(({ a, e }) => [`${a}(?:as|an|am)`, `${e}es`]),
    ...inOther.map((root) => `${root}(?:es|as|is)`),
  ];
  return {
    name,
    bringsThings,
    hasTime,
    bare: whole([...verbs, ...commands]),
    framed: whole([...verbs, ...commands, ...yours]),
    gerund: whole(verbs.map(english.gerund)),
    participle: whole(verbs.map(english.participle)),
    doing: whole([
      ...verbs,
      ...verbs.map(english.third),
      ...inAr.map(({ a }) => `${a}ar?`),
      ...inOther.map((root) => `${root}(?:er|ir|e)`),
    ]),
    noun: nouns === undefined ? null : whole(list(nouns)),
    mention: whole([
      ...verbs,
      ...verbs.flatMap((verb) => [
        english.gerund(verb),
        english.participle(verb),
        english.third(verb),
      ]),
      ...inAr.map(({ a, e }) => `(?:${a}|${e})(?:a|e|o|i)[a-z0-9]{0,8}`),
      ...inOther.map((root) => `${root}[a-z0-9]{1,8}`),
    ]),
  };
}

const ACTS: readonly Act[] = WORDS.map(actOf);

/**
 * Words with which a tool says that it only looks something up, at the beginning of its name or its
 * description.
 */
const LOOKS_UP = wordSet(
  'find finds get gets check checks search searches status track tracks list lists show shows look looks lookup query queries fetch fetches read reads view views see sees ask asks answer answers tell tells give gives retrieve retrieves',
  'count counts calculate calculates estimate estimates verify verifies explain explains describe describes quote quotes weather compare compares provide provides',
  'buscar busca consultar consulta ver mostrar muestra mostra obtener obtiene obter rastrear rastrea rastreia listar lista verificar verifica encontrar encuentra encontra responder responde decir dice diz informar informa calcular calcula explicar explica estado',
);

/** A name with one of these is about the act, and does not do it. */
const ABOUT = wordSet(
  'status policy policies info information history list fee fees cost costs price prices terms conditions details method methods options rules hours times faq availability available link count',
  'estado politica politicas historial informacion informacao tarifa costo custo precio preco condiciones condicoes horario horarios disponibilidad disponibilidade historico',
);

/** "Makes a new reservation": within so many words stands the noun that says what is done. */
const LIGHT = 5;

/**
 * The acts that a tool carries out, by its name or the beginning of its description; none for a
 * tool that looks something up. When it is not clear, it acts.
 */
export function actsOf(tool: AgentTool): readonly Act[] {
  const acts = known.get(tool) ?? workOutActs(tool);
  known.set(tool, acts);
  return acts;
}

const known = new WeakMap<AgentTool, readonly Act[]>();

function workOutActs({ name, description }: AgentTool): readonly Act[] {
  const named = wordsOf(splitName(name));
  const described = wordsOf(description.slice(0, 200));
  const fromDescription = actsAtStart(described, named);
  if (fromDescription.length > 0) return [...new Set([...fromDescription, ...actsInName(named)])];
  const [first = ''] = named;
  if (LOOKS_UP.has(first) || named.some((word) => ABOUT.has(word))) return [];
  const atStart = ACTS.filter(({ doing }) => doing.test(first) && first !== 'order');
  if (atStart.length === 0 && LOOKS_UP.has(described[0] ?? '')) return [];
  return actsInName(named);
}

const actsInName = (named: readonly string[]): readonly Act[] => {
  const [first = ''] = named;
  if (LOOKS_UP.has(first)) return [];
  return ACTS.filter(({ doing, noun }) =>
    named.some(
      (word, at) => (doing.test(word) && !isThing(word, at, named)) || noun?.test(word) === true,
    ),
  );
};

/**
 *  `order` is what most shops' tools are about; a plural or third person inside a name is a thing.
 */
const isThing = (word: string, at: number, named: readonly string[]) =>
  /^orders?$/.test(word) ||
  (at > 0 && /s$/.test(word)) ||
  (at > 0 && ACTS.some(({ doing }) => doing.test(named[0]!) && word !== named[0]));

function actsAtStart(described: readonly string[], named: readonly string[]): readonly Act[] {
  const [first = '', second = ''] = described;
  if (LOOKS_UP.has(first) || second === 'of' || second === 'by' || second === 'in') return [];
  if (first === 'order') return [];
  if (/^orders?$/.test(first) && !/^(?:an?|the|some|more)$/.test(second)) return [];
  // "Returns the status" looks up; `return_order` does not.
  if (/^returns?$/.test(first) && !named.some((word) => /^returns?$/.test(word))) return [];
  const found = ACTS.filter(({ doing }) => doing.test(first));
  if (found.length === 0 || !found.some(({ bringsThings }) => bringsThings)) return found;
  const nouns = ACTS.filter(
    ({ noun }) => noun !== null && described.slice(1, LIGHT).some((word) => noun.test(word)),
  );
  return [...found, ...nouns];
}
