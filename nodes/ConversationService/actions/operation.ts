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
	/** @returns what goes on: an object, or any number of them */
	execute(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject | IDataObject[]>;
}

/** An operation that does something once for all items together. */
export interface RunOperation extends Described {
	/** @returns the items that go on */
	executeOnce(context: IExecuteFunctions): Promise<INodeExecutionData[]>;
}

/** One operation: how it is shown, what it asks for, what it does. */
export type Operation = ItemOperation | RunOperation;

export interface Resource {
	option: INodePropertyOptions & { value: string };
	operations: Operation[];
	defaultOperation: Operation;
}
