import type {
	IDataObject,
	IExecuteFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

/** One operation: how it is shown, what it asks for, what it does for one item. */
export interface Operation {
	option: INodePropertyOptions & { value: string };
	fields: INodeProperties[];
	/** @returns what goes on: an object, or any number of them */
	execute(context: IExecuteFunctions, itemIndex: number): Promise<IDataObject | IDataObject[]>;
}

export interface Resource {
	option: INodePropertyOptions & { value: string };
	operations: Operation[];
	defaultOperation: Operation;
}
