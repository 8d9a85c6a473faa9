import {
  addWords,
  baseTables,
  createTable,
  generationTable,
  selectiveFields,
  sharedGroups,
  type Migrations,
} from '../../service/src/store/postgres/index.ts';

export const contractMigrations: Migrations = {
  '0001_contract': (schema) =>
    [
      baseTables(schema),
      createTable(
        schema,
        'things',
        [
          { on: ['group'] },
          { on: ['group'], orderBy: 'at' },
          { on: ['group', 'kind'], orderBy: 'at' },
          { on: [], orderBy: 'number' },
          { on: ['code'], unique: true },
        ],
        { number: 'double precision' },
      ),
      addWords(schema, 'things'),
      createTable(schema, 'others', []),
      generationTable(schema),
      sharedGroups(schema),
      selectiveFields(schema),
    ].join('\n'),
};
