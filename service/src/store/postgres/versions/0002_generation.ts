import { generationTable, type Migration } from '../migrations.ts';

/** Who was cut off while everything was sealed with another key finds it out by this. */
export const generation: Migration = generationTable;
