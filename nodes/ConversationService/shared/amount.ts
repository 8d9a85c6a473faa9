import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/**
 * The currencies of ISO 4217 that do not have two decimals. Not from `Intl`, which follows everyday
 * use: there, the Colombian peso has no decimals. A test compares the list with that of the
 * service.
 */
const DECIMALS: Record<number, string> = {
	0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
	3: 'BHD IQD JOD KWD LYD OMR TND',
	4: 'CLF UYW',
};

/** How many decimals an amount of the currency has. */
export function decimalsOf(currency: string): number {
	const code = currency.toUpperCase();
	const found = Object.entries(DECIMALS).find(([, codes]) => codes.split(' ').includes(code));
	return found ? Number(found[0]) : 2;
}

/**
 * Turns the amount of a payment into minor units of its currency, which the service takes.
 * @param unit `decimal` when the field holds 49.00, `minor` when it holds 4900
 * @throws NodeOperationError when the unit is neither, or the value is not an amount or has more
 * decimals than the currency
 */
export function readAmount(
	context: IExecuteFunctions,
	itemIndex: number,
	{ value, unit, currency }: { value: unknown; unit: string; currency: string },
): number {
	const refusal = (message: string, description: string) =>
		new NodeOperationError(context.getNode(), message, { itemIndex, description });
	// n8n does not check what an expression gives for a list of options.
	if (!['decimal', 'minor'].includes(unit)) {
		throw refusal(
			`"${unit}" is not a unit of an amount`,
			'Set "Amount In" to decimal, for amounts such as 49.00, or to minor, for amounts such as 4900.',
		);
	}
	const decimals = unit === 'minor' ? 0 : decimalsOf(currency);
	const text = String(value ?? '').trim();
	const [, whole = '', fraction = ''] = /^(\d{1,15})(?:\.(\d+))?$/.exec(text) ?? [];
	if (!whole) {
		throw refusal(
			text ? `The amount "${text}" is not a positive number` : 'The amount is empty',
			`Enter digits with a point before the decimals and without separators, ${example(currency, unit)}.`,
		);
	}
	if (fraction.replace(/0+$/, '').length > decimals) {
		throw refusal(
			unit === 'minor'
				? `The amount ${text} in minor units has decimals`
				: `The amount ${text} has more decimals than ${currency.toUpperCase()} takes (${decimals})`,
			`Enter an amount ${example(currency, unit)}. For a calculated one, round it: {{ $json.price.round(${decimals}) }}.`,
		);
	}
	const amount = Number(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
	if (amount > 0) return amount;
	throw refusal('The amount is zero', `Enter an amount ${example(currency, unit)}.`);
}

function example(currency: string, unit: string): string {
	const code = currency.toUpperCase();
	const decimals = decimalsOf(currency);
	const amount = (49).toFixed(decimals);
	const minor = `49${'0'.repeat(decimals)}`;
	if (unit === 'minor') return `such as ${minor} for ${amount} ${code}`;
	return `such as ${amount} ${code}`;
}
