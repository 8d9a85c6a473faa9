import { expect, it } from '@jest/globals';
import { foldCase, stem } from '../../../../service/src/platform/reading/words.ts';

it.each([
  ['order', 'orders'],
  ['country', 'countries'],
  ['size', 'sizes'],
  ['address', 'addresses'],
  ['shoe', 'shoes'],
  ['hero', 'heroes'],
  ['tomato', 'tomatoes'],
  ['cookie', 'cookies'],
  ['movie', 'movies'],
  ['serie', 'series'],
  ['flor', 'flores'],
  ['hotel', 'hoteles'],
  ['petição', 'petições'],
  ['pão', 'pães'],
  ['irmão', 'irmãos'],
])('%s and %s have the same stem', (singular, plural) => {
  expect(stem(foldCase(plural))).toBe(stem(foldCase(singular)));
});
