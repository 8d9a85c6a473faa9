import { describe, expect, it } from '@jest/globals';
import { LANGUAGES } from '../../../../service/src/agent/agentModel.ts';
import {
  offersPerson,
  questionIn,
  sentence,
  SENTENCES,
  type SentenceName,
} from '../../../../service/src/agent/keyword/sentences.ts';

const NAMES = Object.keys(SENTENCES) as SentenceName[];
const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([each]) => each).sort();

describe('sentences', () => {
  it.each(NAMES)(
    '%s is there in every language, with the same placeholders, and never says AI',
    (name) => {
      const texts = LANGUAGES.map((language) => SENTENCES[name][language]);
      expect(Object.keys(SENTENCES[name]).sort()).toEqual([...LANGUAGES].sort());
      for (const text of texts) {
        expect(text.trim()).toBe(text);
        expect(text).not.toBe('');
        expect(text).not.toMatch(/\b(?:AI|IA)\b|artificial/i);
        expect(placeholders(text)).toEqual(placeholders(texts[0]!));
      }
    },
  );

  it('fills values in as they are, whatever they contain', () => {
    for (const what of ['Order number', '$& $1 {what}', 'toString', '{result}'])
      expect(sentence('askForArgument', 'en', { what })).toContain(what);
    expect(
      sentence(
        'toolResult',
        'en',
        Object.create({ result: 'inherited' }) as Record<string, string>,
      ),
    ).toContain('{result}');
  });

  it.each(LANGUAGES)('recognises its own question, also after a greeting: %s', (language) => {
    const question = sentence('askForArgument', language, {
      what: 'Order number (5 digits). Please',
    });
    const asked = { type: 'argument', what: 'Order number (5 digits). Please' };
    expect(questionIn(question)).toEqual(asked);
    expect(questionIn(`Hello!\n\n${question}\n`)).toEqual(asked);
    expect(
      questionIn(
        `${question}\n\n${sentence('waitingForApproval', language)}\n\n${sentence('toolFailed', language)}`,
      ),
    ).toEqual(asked);
    const confirm = sentence('confirmCall', language, { action: 'cancel order 1' });
    const action = { type: 'confirmation', what: 'cancel order 1' };
    expect(questionIn(`Hello!\n\n${confirm}\n`)).toEqual(action);
    expect(questionIn(`${confirm}\n\n${sentence('toolFailed', language)}`)).toBeNull();
    expect(questionIn(sentence('toolFailed', language))).toBeNull();
    expect(questionIn(`${question} And more.`)).toBeNull();
  });

  it.each(LANGUAGES)('knows which of its sentences offer a person: %s', (language) => {
    const offering = NAMES.filter((name) =>
      offersPerson(`First this.\n\n${sentence(name, language)} `),
    );
    expect(offering).toEqual(['toolFailed', 'approvalRejected', 'approvalExpired']);
    expect(offersPerson(`${sentence('toolFailed', language)} Anything else?`)).toBe(false);
  });
});
