/** What a customer without a phone number and an e-mail address is called. */
export const visitorName = ({ id }: { readonly id: string }): string => `Visitor ${id.slice(-4)}`;
