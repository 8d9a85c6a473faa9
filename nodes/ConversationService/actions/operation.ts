import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

interface Described {
	option: INodePropertyOptions & { value: string };
	fields: INodeProperties[];
}

/** An operation that does something for each item. */
export interface ItemOperation extends Described {
	/** @returns the output for the item: one object, or any number of them */
	execute(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject | IDataObject[]>;
}

/** An operation that does something once for all items together. */
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
