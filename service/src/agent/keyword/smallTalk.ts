import { wordSet, wordsOf } from '../words.ts';

/** Short texts that ask for nothing in particular, told by what words they consist of. */

const MAX_WORDS = 15;

const GREETINGS = wordSet(
  'hi hello hey hiya greetings morning afternoon evening hola holaa holis buenas buenos dias tardes oi ola opa bom boa dia tarde noite alo',
);
const NEEDS_HELP = wordSet('help ayuda ajuda question pregunta consulta duda pergunta duvida');
const BESIDE_GREETING = wordSet(
  'there good dear everyone team how are you doing is anyone sir madam to all i need want have a some please can could me with something quick ask',
  'que tal como esta estas estan noches senor senora equipo muy todo bien necesito quiero tengo una un favor por hacer me puede puedes pueden podria ayudar ayudarme hacerles alguien ahi',
  'tudo bem com voce voces e ai como vai noite senhor senhora equipe preciso quero tenho de uma um por favor pode podem poderia me ajudar gente pessoal alguem',
  GREETINGS,
  NEEDS_HELP,
);

const THANKS = wordSet(
  'thanks thank thx ty tks cheers gracias grax obrigado obrigada obg valeu vlw brigado brigada agradezco agradecido agradecida agradeco grato grata',
);
const GOODBYES = wordSet('bye goodbye cya chau chao adios tchau xau flw');
const DONE =
  /\b(?:thats (?:all|it)|that is (?:all|it)|nothing (?:else|more)|see you|see ya|have a (?:nice|good|great)|eso es todo|es todo|nada mas|eso seria todo|seria todo|hasta (?:luego|pronto|manana)|nos vemos|e so isso|era so isso|so isso|era isso|e isso|nada mais|ate (?:logo|mais|breve|amanha)|isso e tudo|e tudo)\b/;
const BESIDE_THANKS = wordSet(
  'you very much so a lot lots many for your the help that thats is all it nothing else more see later ya soon have nice good great day evening night one perfect ok okay everything cool no then and i am good fine now was appreciate',
  'muchas mil muy amable por la su tu ayuda atencion eso es todo nada mas seria hasta luego pronto manana nos vemos que tenga tengas buen buena dia tarde noche perfecto listo genial excelente ok bueno bien no ya de momento y todo le te se lo si dale vale igualmente',
  'muito muita pela sua ajuda atencao e era so isso tudo nada mais por enquanto ate logo breve amanha tenha um uma bom boa dia tarde noite perfeito otimo ok nao de ja era sim beleza igualmente',
  THANKS,
  GOODBYES,
);

const CHANGES_MIND =
  /^(?:(?:no|ok|nao|oh|well|bueno) )?(?:never ?mind|nvm|forget it|forget about it|cancel|cancel that|stop|leave it|olvidalo|olvidelo|dejalo|dejelo|cancela|cancelar|cancele|ya no|no importa|no quiero|nada|deixa|deixa pra la|deixe pra la|esquece|esqueca|cancelar|cancela|nao quero mais|ja nao quero)(?: (?:please|thanks|gracias|por favor|obrigado|obrigada))*$/;
const DECLINES = wordSet(
  'no nope not now thanks thank you its fine ok okay gracias asi esta bien ahora todo nao obrigado obrigada agora precisa hace falta por tudo bem need',
);

const shortWords = (text: string): readonly string[] | null => {
  if (text.length > 200) return null;
  const words = wordsOf(text);
  return words.length > 0 && words.length <= MAX_WORDS ? words : null;
};

const consistsOf = (
  text: string,
  words: ReadonlySet<string>,
  ...oneOf: ReadonlySet<string>[]
): boolean => {
  const said = shortWords(text);
  return (
    said !== null &&
    said.every((word) => words.has(word)) &&
    oneOf.some((each) => said.some((word) => each.has(word)))
  );
};

/** "hello", "hola, necesito ayuda", "oi, tudo bem?": nothing yet that could be done. */
export const isGreeting = (text: string): boolean =>
  consistsOf(text, BESIDE_GREETING, GREETINGS, NEEDS_HELP);

/** "thanks", "muchas gracias". */
export const isThanks = (text: string): boolean => consistsOf(text, BESIDE_THANKS, THANKS);

/** "thanks, bye", "gracias, eso es todo", "era só isso": the customer is done. */
export function isFarewell(text: string): boolean {
  const said = shortWords(text);
  if (said === null || !said.every((word) => BESIDE_THANKS.has(word))) return false;
  return said.some((word) => GOODBYES.has(word)) || DONE.test(said.join(' '));
}

/** "never mind", while a question of ours is open. */
export const changesMind = (text: string): boolean =>
  CHANGES_MIND.test(shortWords(text)?.join(' ') ?? '');

/** "no, thanks", after an offer. */
export const declines = (text: string): boolean =>
  consistsOf(text, DECLINES, wordSet('no nope nao'));
