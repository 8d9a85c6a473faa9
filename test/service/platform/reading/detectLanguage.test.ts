import { describe, expect, it } from '@jest/globals';
import { LANGUAGES, type Language } from '../../../../service/src/platform/reading/language.ts';
import { detectLanguage } from '../../../../service/src/platform/reading/detectLanguage.ts';

const SHORT_TEXTS: readonly (readonly [string, Language])[] = [
  ['quiero hablar con alguien', 'es'],
  ['quero falar com uma pessoa', 'pt'],
  ['ola', 'pt'],
  ['hola', 'es'],
  ['I need help', 'en'],
  ['hello', 'en'],
  ['oi', 'pt'],
  ['olá', 'pt'],
  ['bom dia', 'pt'],
  ['buenos dias', 'es'],
  ['buenas', 'es'],
  ['gracias', 'es'],
  ['obrigado', 'pt'],
  ['thanks', 'en'],
  ['onde está meu pedido?', 'pt'],
  ['dónde está mi pedido?', 'es'],
  ['where is my order', 'en'],
  ['cancela mi pedido 123', 'es'],
  ['cancele meu pedido 123', 'pt'],
  ['¿precio?', 'es'],
  ['informação', 'pt'],
  ['información', 'es'],
  ['no funciona', 'es'],
  ['não funciona', 'pt'],
  ['a que hora abren', 'es'],
  ['a que horas abre', 'pt'],
  ['order status', 'en'],
  ['tracking number', 'en'],
  ['sim', 'pt'],
  ['yes', 'en'],
  ['sí', 'es'],
  ['me llamo Ana', 'es'],
  ['meu nome é Ana', 'pt'],
  ['my name is Ana', 'en'],
  ['I want a refund', 'en'],
  ['quanto custa', 'pt'],
  ['cuanto cuesta', 'es'],
  ['how much', 'en'],
  ['necesito ayuda', 'es'],
  ['preciso de ajuda', 'pt'],
  ['help', 'en'],
  ['ayuda', 'es'],
  ['ajuda', 'pt'],
  ['atendente', 'pt'],
  ['Atendente!', 'pt'],
];

describe('detectLanguage', () => {
  it.each(SHORT_TEXTS)('%s → %s', (text, language) =>
    expect(detectLanguage([text], LANGUAGES)).toBe(language),
  );

  it.each(["Maria's invoice", 'Maria’s invoice'])('%s is English, with either apostrophe', (text) =>
    expect(detectLanguage([text], ['es', 'en'])).toBe('en'),
  );

  it.each(["'tá bom", '’tá bom'])(
    '%s is Portuguese: its apostrophe is not an English one',
    (text) => expect(detectLanguage([text], ['en', 'pt'])).toBe('pt'),
  );

  it.each([[[]], [['']], [['1234']], [['👍']], [['AB-123', 'ok']]])(
    '%j says nothing: the first working language',
    (texts) => {
      expect(detectLanguage(texts, ['pt', 'en', 'es'])).toBe('pt');
      expect(detectLanguage(texts, ['es', 'en', 'pt'])).toBe('es');
    },
  );

  it('chooses among the working languages only', () =>
    expect(detectLanguage(['quiero saber cuando abre'], ['en', 'pt'])).toBe('pt'));

  it('follows the newest text', () =>
    expect(
      detectLanguage(
        ['hola, necesito ayuda con mi pedido', 'sorry, do you speak English?'],
        LANGUAGES,
      ),
    ).toBe('en'));

  it('asks the older texts where the newest says nothing', () =>
    expect(detectLanguage(['onde está meu pedido?', '12345'], LANGUAGES)).toBe('pt'));

  it('says nothing by "um", which hesitates in English and is one in Portuguese', () => {
    expect(detectLanguage(['where is my order?', 'um…'], LANGUAGES)).toBe('en');
    expect(detectLanguage(['onde está meu pedido?', 'um'], LANGUAGES)).toBe('pt');
  });

  it.each(['um quarto', 'um café', 'um hotel'])('reads Portuguese in %j', (text) =>
    expect(detectLanguage([text], LANGUAGES)).toBe('pt'),
  );

  it.each([
    'a '.repeat(2048),
    'ing'.repeat(1365),
    "'".repeat(4096),
    'ção'.repeat(1365),
    'a'.repeat(4096),
  ])('takes bounded time for a hostile text (%#)', (text) => {
    const before = process.cpuUsage();
    detectLanguage(
      Array.from({ length: 20 }, () => text),
      LANGUAGES,
    );
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000); // microseconds
  });
});
