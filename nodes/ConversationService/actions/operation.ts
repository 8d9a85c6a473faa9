import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';
import type { RecordShape } from './output';

interface Described {
	option: INodePropertyOptions & { value: string };
	fields: INodeProperties[];
}

/** The output for one item: one object, a list, or objects as they arrive. */
export type Output = IDataObject | IDataObject[] | AsyncIterable<IDataObject>;

/** An operation that runs for each item. */
export interface ItemOperation extends Described {
	/** The shape of the records that it returns, when they have more than ten fields. */
	record?: RecordShape;
	execute(context: IExecuteFunctions, itemIndex: number): Output | Promise<Output>;
}

/** An operation that runs once for all items together. */
export interface RunOperation extends Described {
	/** @returns the output items */
	executeOnce(context: IExecuteFunctions): Promise<INodeExecutionData[]>;
}

/** One operation: its entry in the list, its fields, and what it does. */
export type Operation = ItemOperation | RunOperation;

export interface Resource {
	option: INodePropertyOptions & { value: string };
	operations: Operation[];
	defaultOperation: Operation;
}
