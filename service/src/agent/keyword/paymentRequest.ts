import { CREATE_PAYMENT_LINK } from '../../domain/builtInTools.ts';
import type { AgentTool, Language, Step } from '../agentModel.ts';
import { sentence } from '../sentences.ts';
import { foldCase } from '../words.ts';
import { moneyIn } from './money.ts';
import { bestTool } from './ranking.ts';
import { cut } from './resultWording.ts';

/**
 * The capability in words by which a request for it is told: to pay, or to be sent a link for
 * paying.
 */
const IN_WORDS: AgentTool = {
  name: CREATE_PAYMENT_LINK,
  description: 'Sends a payment link',
  parameters: { type: 'object' },
};

const MAX_PURPOSE_CHARACTERS = 100;
const PURPOSE = new RegExp(
  `\\b(?:for|por|para|pela|pelo|pelas|pelos)\\s+(?!(?:me|my payment|now|today|favor|pagar|mim|hoy|hoje|ahora|agora)\\b)([^.,;:!?\\n]{3,${MAX_PURPOSE_CHARACTERS}})`,
  'iu',
);
const POLITE_END =
  /[\s,]+(?:please|pls|now|today|por favor|porfa|gracias|thanks|obrigad[oa]|ahora|agora|hoy|hoje)$/iu;

/**
 * The call for a payment link when the customer clearly asks to pay one amount of money; null
 * otherwise. The amount is only what the customer says, and nobody here knows the price: a person
 * decides, even where the team lets the agent make links by itself.
 */
export function paymentLinkCall(
  text: string,
  language: Language,
): Extract<Step, { type: 'tool_calls' }> | null {
  const [money, ...others] = moneyIn(text, language);
  if (
    money === undefined ||
    others.length > 0 ||
    asksForMoney(text) ||
    bestTool(withoutSeparators(text), [IN_WORDS]) === null
  )
    return null;
  const description = purposeIn(text) ?? sentence('payment', language);
  return {
    type: 'tool_calls',
    calls: [
      { tool: CREATE_PAYMENT_LINK, arguments: { ...money, description }, needsApproval: true },
    ],
  };
}

/** "Pay me", "págueme": the other way round. */
const asksForMoney = (text: string) =>
  /\b(?:pay (?:me|us)|paga(?:me|nos)|pague(?:me|nme|nos)|(?:me|nos) pag(?:a|as|an|ue|uen|uem|ues|ar))\b/.test(
    foldCase(text),
  );

/** `49,90` holds no comma between clauses. */
const withoutSeparators = (text: string) => text.replace(/(?<=\d)[.,](?=\d)/g, ' ');

/** "… for the demo": what is paid for, in the customer's words; not the money itself. */
function purposeIn(text: string): string | null {
  for (
    let rest = text, found = PURPOSE.exec(rest);
    found !== null;
    rest = rest.slice(found.index + found[0].length - found[1]!.length), found = PURPOSE.exec(rest)
  ) {
    const purpose = found[1]!.replace(POLITE_END, '').replace(POLITE_END, '').trim();
    if (purpose.length > 2 && !/^[\p{Sc}]|\d/u.test(purpose.slice(0, 6)))
      return cut(purpose, MAX_PURPOSE_CHARACTERS);
  }
  return null;
}
