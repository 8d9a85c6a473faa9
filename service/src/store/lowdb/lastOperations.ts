import type { Operation } from './frame.ts';

type Put = Extract<Operation, readonly ['put', ...unknown[]]>;

/**
 * Which operation on each document is the last one in the journals, by its number. Knows documents
 * by their names alone: they are picked when the journals are read once more.
 */
export class LastOperations {
  private readonly byCollection = new Map<string, Map<string, number>>();
  private count = 0;

  note(operations: readonly Operation[]): void {
    for (const operation of operations) {
      const [, collection] = operation;
      let numbers = this.byCollection.get(collection);
      if (numbers === undefined)
        this.byCollection.set(collection, (numbers = new Map<string, number>()));
      numbers.set(idOf(operation), this.count);
      this.count += 1;
    }
  }

  isNamed(collection: string, id: string): boolean {
    return this.byCollection.get(collection)?.has(id) ?? false;
  }

  /**
   * @returns what picks, from all operations given once more in the same order, those whose
   * documents are left in the end
   */
  pick(): (operations: readonly Operation[]) => readonly Put[] {
    let number = 0;
    return (operations) =>
      operations.filter((operation): operation is Put => {
        const isLast = this.byCollection.get(operation[1])?.get(idOf(operation)) === number;
        number += 1;
        return isLast && operation[0] === 'put';
      });
  }
}

const idOf = (operation: Operation): string =>
  operation[0] === 'put' ? operation[2].id : operation[2];
