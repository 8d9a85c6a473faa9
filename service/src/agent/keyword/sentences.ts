import type { ToolCall } from '../../tools/index.ts';
import { LANGUAGES, type Language } from '../agentModel.ts';

/**
 * What the service itself says to a customer, in each of its languages. Spanish is neutral Latin
 * American, Portuguese is Brazilian. `sentence` fills in each `{…}`.
 */
export const SENTENCES = {
  /** A tool call failed or was cancelled: nothing was done, and a person is offered. */
  toolFailed: {
    en: 'I could not do that right now. Would you like a person to follow up?',
    es: 'No pude hacerlo en este momento. ¿Desea que una persona le dé seguimiento?',
    pt: 'Não consegui fazer isso agora. Gostaria que uma pessoa desse continuidade?',
  },
  waitingForApproval: {
    en: 'A colleague has to confirm this first. I will write as soon as it is decided.',
    es: 'Primero tiene que confirmarlo una persona del equipo. Le escribo en cuanto se decida.',
    pt: 'Primeiro uma pessoa da equipe precisa confirmar. Escrevo assim que for decidido.',
  },
  approvalRejected: {
    en: 'The team did not confirm this, so it was not done. Would you like a person to follow up?',
    es: 'El equipo no lo confirmó, así que no se hizo. ¿Desea que una persona le dé seguimiento?',
    pt: 'A equipe não confirmou, então isso não foi feito. Gostaria que uma pessoa desse continuidade?',
  },
  approvalExpired: {
    en: 'Nobody could confirm this in time, so it was not done. Would you like a person to follow up?',
    es: 'Nadie pudo confirmarlo a tiempo, así que no se hizo. ¿Desea que una persona le dé seguimiento?',
    pt: 'Ninguém pôde confirmar a tempo, então isso não foi feito. Gostaria que uma pessoa desse continuidade?',
  },
  /** Like `toolFailed`, for a conversation that already waits for a person. */
  notDone: {
    en: 'What you asked me for earlier could not be done. The person who writes to you here will see it.',
    es: 'Lo que me pidió antes no se pudo hacer. La persona que le escriba por aquí lo verá.',
    pt: 'O que você me pediu antes não pôde ser feito. A pessoa que escrever por aqui vai ver isso.',
  },
  /** The customer asked for a person. */
  handOverOnRequest: {
    en: 'Of course. I am passing you to a person, who will write to you here.',
    es: 'Por supuesto. Le paso con una persona, que le escribirá por aquí.',
    pt: 'Claro. Vou passar a conversa para uma pessoa, que vai escrever por aqui.',
  },
  /** The agent does not know. */
  handOverUnknown: {
    en: 'I do not know how to help with that. I am passing you to a person, who will write to you here.',
    es: 'No sé cómo ayudarle con eso. Le paso con una persona, que le escribirá por aquí.',
    pt: 'Não sei como ajudar com isso. Vou passar a conversa para uma pessoa, que vai escrever por aqui.',
  },
  /** A workflow hands over, and says nothing itself. */
  handOverByWorkflow: {
    en: 'I am passing you to a person, who will write to you here.',
    es: 'Le paso con una persona, que le escribirá por aquí.',
    pt: 'Vou passar a conversa para uma pessoa, que vai escrever por aqui.',
  },
  /** An error of ours. */
  handOverAfterError: {
    en: 'Sorry, something went wrong on our side. A person will follow up and write to you here.',
    es: 'Disculpe, tuvimos un error de nuestro lado. Una persona le dará seguimiento y le escribirá por aquí.',
    pt: 'Desculpe, houve um erro do nosso lado. Uma pessoa vai dar continuidade e escrever por aqui.',
  },
  /** `what`: the missing argument, by its description or its name. */
  askForArgument: {
    en: 'To go on, I need one more detail: {what}. Could you send it to me, please?',
    es: 'Para continuar necesito un dato más: {what}. ¿Me lo puede enviar, por favor?',
    pt: 'Para continuar, preciso de mais uma informação: {what}. Pode me enviar, por favor?',
  },
  /** `action`: what a tool that is not read-only would do, with its arguments. */
  confirmCall: {
    en: 'Shall I {action}? Please answer yes or no.',
    es: '¿Hago esto: {action}? Responda sí o no, por favor.',
    pt: 'Devo fazer isto: {action}? Responda sim ou não, por favor.',
  },
  /** `result`: lines. */
  toolResult: {
    en: 'This is the result:\n{result}',
    es: 'Este es el resultado:\n{result}',
    pt: 'Este é o resultado:\n{result}',
  },
  /**
   * Where the customer pays: `amount` with its currency, `description` what for. The address stands
   * alone on its line.
   */
  paymentLink: {
    en: 'Here you can pay {amount} ({description}):\n{url}',
    es: 'Aquí puede pagar {amount} ({description}):\n{url}',
    pt: 'Aqui você pode pagar {amount} ({description}):\n{url}',
  },
  /** What the agent would do about a request to pay. */
  makePaymentLink: {
    en: 'make a payment link for {amount} ({description})',
    es: 'crear un enlace de pago por {amount} ({description})',
    pt: 'criar um link de pagamento de {amount} ({description})',
  },
  paymentAmount: {
    en: 'the amount and the currency, for example 49.90 USD',
    es: 'el monto y la moneda, por ejemplo 49,90 USD',
    pt: 'o valor e a moeda, por exemplo 49,90 USD',
  },
  paymentDescription: {
    en: 'what the payment is for',
    es: 'para qué es el pago',
    pt: 'para que é o pagamento',
  },
  /** A tool call succeeded, and its result has nothing to tell the customer. */
  toolDone: { en: 'Done.', es: 'Listo, ya está hecho.', pt: 'Pronto, está feito.' },
  nothingFound: { en: 'There are no results.', es: 'No hay resultados.', pt: 'Não há resultados.' },
  /** `count`: items of a list that are not read out. */
  moreItems: { en: 'And {count} more.', es: 'Y {count} más.', pt: 'E mais {count}.' },
  /** An answer to a plain greeting. */
  howCanIHelp: {
    en: 'Hello! What can I do for you?',
    es: '¡Hola! ¿En qué le puedo ayudar?',
    pt: 'Olá! Em que posso ajudar?',
  },
  /** Thanks in the middle of a conversation. */
  youAreWelcome: {
    en: 'You are welcome. Write to me if you need anything else.',
    es: 'Con gusto. Escríbame si necesita algo más.',
    pt: 'De nada. Escreva se precisar de mais alguma coisa.',
  },
  /** The customer changed their mind. */
  allRight: {
    en: 'All right. Write to me if you need anything else.',
    es: 'De acuerdo. Escríbame si necesita algo más.',
    pt: 'Tudo bem. Escreva se precisar de mais alguma coisa.',
  },
  /** The last sentence of a conversation. */
  farewell: {
    en: 'Thank you for writing. Have a good day!',
    es: 'Gracias por escribirnos. ¡Que tenga un buen día!',
    pt: 'Obrigado por escrever. Tenha um bom dia!',
  },
  yes: { en: 'yes', es: 'sí', pt: 'sim' },
  no: { en: 'no', es: 'no', pt: 'não' },
} as const satisfies Record<string, Record<Language, string>>;

export type SentenceName = keyof typeof SENTENCES;

/** A sentence in a language, with each `{name}` replaced by its value. */
export const sentence = (
  name: SentenceName,
  language: Language,
  values: Readonly<Record<string, string>> = {},
): string =>
  SENTENCES[name][language].replace(/\{(\w+)\}/g, (placeholder, key: string) =>
    Object.hasOwn(values, key) ? values[key]! : placeholder,
  );

/** What the customer is told of a call that waits for approval, or that did not succeed. */
export const SENTENCES_OF_CALLS: Readonly<Partial<Record<ToolCall['status'], SentenceName>>> = {
  pending_approval: 'waitingForApproval',
  rejected: 'approvalRejected',
  expired: 'approvalExpired',
  failed: 'toolFailed',
  cancelled: 'toolFailed',
};

const OFFERS: readonly string[] = [
  SENTENCES.toolFailed,
  SENTENCES.approvalRejected,
  SENTENCES.approvalExpired,
].flatMap((texts) => Object.values(texts));

/** Whether a reply ends by offering a person. A "yes" to it asks for one. */
export const offersPerson = (reply: string): boolean =>
  OFFERS.some((offer) => reply.trimEnd().endsWith(offer));

/** What the service may add about earlier calls after the text of a reply. */
const NOTICES: readonly string[] = [...OFFERS, ...Object.values(SENTENCES.waitingForApproval)];

function withoutNotices(reply: string): string {
  const text = reply.trimEnd();
  const notice = NOTICES.find((each) => text.endsWith(each));
  return notice === undefined ? text : withoutNotices(text.slice(0, -notice.length));
}

/** A question of the agent: for an argument that it calls `what`, or whether to do `what`. */
export interface AgentQuestion {
  readonly type: 'argument' | 'confirmation';
  readonly what: string;
}

/**
 * The question at the end of a reply, before any notices about earlier calls; null when there is
 * none. So the messages alone tell which question is open.
 */
export function questionIn(reply: string): AgentQuestion | null {
  const text = withoutNotices(reply);
  for (const language of LANGUAGES) {
    const what = filledIn(text, SENTENCES.askForArgument[language], '{what}');
    if (what !== null) return { type: 'argument', what };
    // A notice may end with a question of its own: a yes would be the answer to that.
    const action = filledIn(reply.trimEnd(), SENTENCES.confirmCall[language], '{action}');
    if (action !== null) return { type: 'confirmation', what: action };
  }
  return null;
}

/**
 * What fills the placeholder, if the text ends with the sentence; else null. The sentence has to
 * begin a line, because what fills it may hold words of the customer that repeat it.
 */
function filledIn(text: string, template: string, placeholder: string): string | null {
  const [before = '', after = ''] = template.split(placeholder);
  const start = `\n${text}`.lastIndexOf(`\n${before}`);
  return start !== -1 && text.endsWith(after)
    ? text.slice(start + before.length, text.length - after.length)
    : null;
}
