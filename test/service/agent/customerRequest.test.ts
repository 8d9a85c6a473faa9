import { describe, expect, it } from '@jest/globals';
import { acceptsOffer, wantsPerson } from '../../../service/src/agent/customerRequest.ts';

const WANT_A_PERSON = {
  en: [
    'I want a person', 'talk to a human', 'can I speak with someone real?', 'I WANT TO TALK TO A PERSON', "I'd like to speak to a representative",
    'please connect me to an agent', 'transfer me to a human', 'put me through to someone', 'get me a human', 'give me a real person', 'human please',
    'Human', 'agent', 'let me talk to someone', 'is there a real person I can talk to?', 'Is there someone I can talk to?', 'can someone call me?',
    "I don't want to talk to a bot", "I don't understand, I want to talk to a person", "I don't understand I want to talk to a person",
    "why can't I talk to a human?", 'speak to customer service', 'talkto a human', 'talk to ahuman', 'I need a human being',
    'I need to speak with your manager', 'no, I want a person', 'human support please', 'not a bot, a real person please',
    "I'd rather talk to a person", 'can i chat with a live agent', 'could you pass me to a colleague', 'I want to talk to someone from your team',
    'escalate this to a supervisor', 'a person please', 'A person, please', "I'd rather deal with a human being", 'could a colleague contact me',
    'could one of your colleagues call me?', 'I need help from a human',
  ],
  es: [
    'quiero hablar con una persona', 'quiero hablar con un asesor', 'quiero hablar con alguien de verdad', 'pásame con un humano',
    'QUIERO HABLAR CON UN HUMANO', 'páseme con un agente por favor', 'me puedes pasar con alguien?', 'necesito un asesor', 'quiero una persona',
    'quiero una persona real, no un robot', 'atención humana', 'asesor por favor', 'humano', 'quiero hablarcon una persona',
    'quiero hablar conuna persona', 'comuníqueme con un representante', '¿puedo hablar con alguien?', 'me gustaria hablar con el encargado',
    'no quiero hablar con un bot', 'no entiendo quiero hablar con una persona', 'No, quiero hablar con alguien',
    'por qué no puedo hablar con una persona?', 'quiero que me atienda una persona', 'que alguien me llame por favor', 'hay alguien real ahí?',
    'prefiero hablar con alguien', 'transfiéreme a un operador', '¿me comunica con servicio al cliente?', 'derivame con un asesor',
    'necesito hablar con atención al cliente', 'no me sirve, hablar con asesor', 'agente', 'quisiera platicar con un ejecutivo',
    'Persona por favor', 'Me puede atender un humano?', '¿Puede atenderme una persona?', 'necesito ayuda de una persona', 'Prefiero que me llamen',
    '¿Me puede transferir?',
  ],
  pt: [
    'quero falar com um atendente', 'atendimento humano', 'quero falar com uma pessoa', 'QUERO FALAR COM UM HUMANO', 'me passa para um atendente',
    'pode me transferir para um humano?', 'preciso de um atendente', 'preciso falar com alguem', 'chama um atendente', 'não quero falar com um robô',
    'nao consigo falar com um atendente', 'gostaria de falar com uma pessoa de verdade', 'queria falar com alguém', 'posso falar com o gerente?',
    'quero um humano', 'atendente', 'atendente por favor', 'tem alguém de verdade aí?', 'tem alguem ai com quem eu possa falar', 'falar com atendente',
    'não entendi, quero falar com uma pessoa', 'me coloque em contato com uma pessoa', 'falarcom um atendente', 'quero que alguém me ligue',
    'encaminhe para um atendente', 'suporte humano', 'prefiro uma pessoa', 'não, quero falar com um humano', 'conversar com um consultor',
    'quero ser atendido por uma pessoa', 'por favor me transfira para uma pessoa',
    'Pode me transferir?', 'pessoa por favor', 'um humano pode me atender?', 'preciso de ajuda de uma pessoa', 'prefiro que me liguem',
  ],
};

const DO_NOT = {
  en: [
    'a table for one person', 'table for 4 persons', 'the person who sold it to me was rude', "I don't want to talk to a person",
    'I do not want a person', 'human resources email?', 'resources: human resources email?', 'how many people work there?',
    'I spoke to a person yesterday', 'I talked to an agent last week', 'is it for one person?', 'price per person', 'who is the person in charge?',
    'I need a table for 2 people', 'I need a person count', 'is this a real person?', 'are you human?', 'there is no need to talk to a person',
    'the agent told me it was shipped', 'my agent number is 12', 'I never want to speak to a human again', 'does it work without talking to a person?',
    'what does a travel agent earn', 'a person', 'one person', 'can you send me the invoice?', 'where is my order?', 'I want personalised cards',
    'human hair wig price', 'I want a refund', 'rather than talk to a person I want to do it here', 'I managed to talk to a person yesterday',
    'the bot is good', 'a table for one person please', 'booking for a person', 'one person please', 'room for one person, please', 'has a colleague contacted you?',
    "I'd rather not deal with a human", 'I had to deal with a person who was rude', 'the colleague contacted me', 'a person, two nights please',
  ],
  es: [
    'mi mesa es para 4 personas', 'una mesa para una persona', 'no quiero hablar con una persona', 'no necesito un asesor',
    'hablé con una persona ayer', 'ayer hablé con un asesor', 'la persona que me lo vendió', '¿cuántas personas trabajan ahí?', 'para una persona',
    'una persona', '2 personas', 'recursos humanos', 'correo de recursos humanos?', 'el asesor me dijo que llegaba hoy', 'precio por persona',
    'no hace falta hablar con nadie', 'sin hablar con una persona', '¿es usted una persona?', 'quiero personalizar mi pedido',
    'quiero un agente de aduanas', 'necesito una mesa para cuatro personas', 'alguien me robó la tarjeta', '¿alguien más compró esto?',
    'quiero una habitación para una persona', 'no quiero que me pasen con una persona', 'ya hablé con alguien', '¿qué es un agente?',
    'quiero hablar español', 'quiero pasar a recoger mi pedido', 'el humano es un animal', 'mi agente de viajes',
    'una mesa para una persona por favor', 'una persona más por favor', 'quiero que me llamen Ana', 'no quiero que me llamen', 'no necesito ayuda de una persona',
    'recibí ayuda de una persona ayer', '¿me puede transferir 50 pesos?', 'alguien me puede ayudar?', '¿cuántas personas puede atender un mesero?',
  ],
  pt: [
    'quantas pessoas cabem?', 'não quero falar com uma pessoa', 'nao preciso de um atendente', 'falei com uma pessoa ontem', 'mesa para uma pessoa',
    'uma pessoa', '2 pessoas', 'preço por pessoa', 'a pessoa que me vendeu', 'recursos humanos', 'o atendente disse que chegava hoje',
    'você é uma pessoa?', 'quero falar português', 'sem falar com uma pessoa', 'não precisa falar com ninguém', 'qual o atendimento de vocês?',
    'qual o horário de atendimento?', 'quero uma mesa para quatro pessoas', 'alguém roubou meu cartão', 'preciso de um quarto para uma pessoa',
    'já falei com um atendente', 'quantos funcionários vocês têm?', 'o vendedor foi ótimo', 'quero personalizar', 'nunca quero falar com um atendente',
    'conheço uma pessoa que comprou', 'qual o email do suporte?', 'o suporte é bom', 'quero comprar para outra pessoa', 'pessoas podem entrar?',
    'seguro para pessoa física', 'mesa para uma pessoa por favor', 'Pode me transferir o dinheiro?', 'não quero que me liguem', 'quero que me chamem de Ana',
  ],
};

const YES = [
    'yes', 'Yes please', 'ok', 'OK!', 'sure', 'yeah, sure', 'okay thanks', 'please', 'go ahead', 'of course', 'I would like that',
    'yes, a person please', 'sounds good', 'alright', 'yes, please do', '👍', 'sí', 'si', 'Sí, por favor', 'dale', 'claro', 'claro que sí', 'por favor',
    'bueno', 'de acuerdo', 'sí quiero', 'está bien', 'vale', 'sí, que me llamen', 'me gustaría', 'perfecto, gracias', 'por supuesto', 'sim',
    'sim, por favor', 'pode ser', 'quero', 'quero sim', 'claro', 'com certeza', 'ta bom', 'tudo bem', 'pode', 'isso', 'beleza', 'ok obrigado',
    'sim, uma pessoa', 'gostaria', 'yes no problem', 'sí, no hay problema',
];

const NOT_YES = [
    'no', 'no, thanks', 'ok never mind', 'yes but not now', 'yes, but no', 'no thank you', 'never mind', 'thanks', 'what?',
    'yes, what are your opening hours', 'ok do you have it in blue', 'please cancel my order', 'not now', 'maybe later', 'ok forget it',
    'can you please tell me the price?', 'i would like to cancel', 'no please', 'sure?', 'yes I have a question', 'no, gracias', 'no', 'gracias',
    'sí pero no ahora', 'claro que no', 'quiero cancelar', 'quiero otro producto', 'ok olvídalo', 'ahora no', 'mejor no', 'sí, ¿cuánto cuesta?',
    'por favor cancele mi pedido', 'déjalo', 'no quiero', 'bueno no', 'não', 'não, obrigado', 'obrigado', 'sim mas depois', 'quero cancelar',
    'agora não', 'pode cancelar', 'deixa pra lá', 'ok deixa', 'não quero', 'claro que não', 'sim, quanto custa', 'quero saber o preço', '',
];

const HOSTILE = [
  'a '.repeat(2048), 'no '.repeat(1365), 'talk to '.repeat(512), 'talk to a real live real live '.repeat(136), 'quiero '.repeat(585), 'a'.repeat(4096),
  'que me '.repeat(585), "'".repeat(4096), ' '.repeat(4096), 'yes '.repeat(1024), 'no quiero hablar con una '.repeat(160), 'get me a real human person '.repeat(150),
  'ﷺ'.repeat(4096), 'quero falar com uma '.repeat(200), 'is there a '.repeat(370),
];

/** Far above what these take, far below what a pattern that backtracks would. */
const BOUND_MS = 5_000;

function timed<Result>(run: () => Result): Result {
  const start = performance.now();
  const result = run();
  expect(performance.now() - start).toBeLessThan(BOUND_MS);
  return result;
}

describe('wantsPerson', () => {
  it.each(Object.values(WANT_A_PERSON).flat())('hears a request for a person in: %s', (text) => expect(wantsPerson(text)).toBe(true));

  it.each(Object.values(DO_NOT).flat())('hears none in: %s', (text) => expect(wantsPerson(text)).toBe(false));

  it.each(Object.values(WANT_A_PERSON).flat())('hears it in capitals, without accents and with odd spaces: %s', (text) => {
    const plain = text.normalize('NFD').replace(/\p{M}/gu, '');
    expect([text.toUpperCase(), plain, `  ${text.replaceAll(' ', '   ')} `].map(wantsPerson)).toEqual([true, true, true]);
  });

  it('has at least 25 cases of each kind in each language', () => {
    for (const cases of [WANT_A_PERSON, DO_NOT]) for (const texts of Object.values(cases)) expect(new Set(texts).size).toBeGreaterThanOrEqual(25);
  });

  it.each(HOSTILE.map((text) => [text.slice(0, 30), text]))('takes bounded time for: %s…', (_, text) => {
    timed(() => wantsPerson(text));
  });
});

describe('acceptsOffer', () => {
  it.each(YES)('takes as a yes: %s', (text) => expect(acceptsOffer(text)).toBe(true));

  it.each(NOT_YES)('does not take as a yes: %s', (text) => expect(acceptsOffer(text)).toBe(false));

  it.each(HOSTILE.map((text) => [text.slice(0, 30), text]))('takes bounded time for, and no yes from: %s…', (_, text) => {
    expect(timed(() => acceptsOffer(text))).toBe(false);
  });
});
