import type { Resource } from '../operation';
import { cancel } from './cancel.operation';
import { create } from './create.operation';
import { get } from './get.operation';
import { getMany } from './getMany.operation';
import { markPaid } from './markPaid.operation';

export const paymentLink: Resource = {
	option: { name: 'Payment Link', value: 'paymentLink' },
	operations: [cancel, create, get, getMany, markPaid],
	defaultOperation: create,
};
