import { stem, wordsOf } from '../words.ts';

/**
 * Words of the three languages for the same thing, so that `cancel_order` is found for "anular mi
 * pedido". `acts`: a tool whose name starts with such a word is called only where the customer says
 * it.
 */
interface Concept {
  readonly name: string;
  readonly words: string;
  readonly acts?: boolean;
}

const CONCEPTS: readonly Concept[] = [
  {
    name: 'cancel',
    acts: true,
    words:
      'cancel cancels canceling cancelling cancelled cancellation void annul cancelar cancela cancele cancelen cancelem canceles cancelame canceleme cancelarlo cancelarla cancelarme cancelalo cancelala cancelas canceled cancelacion cancelamento anular anula anule anulen anulame anulacion desmarcar',
  },
  {
    name: 'refund',
    acts: true,
    words:
      'refund refunds refunded refunding reembolso reembolsar reembolsa reembolse reembolsen reembolsem reembolsame reembolsarme reembolseme reembolsenme devolver devolverme devuelve devuelva devuelvan devuelvanme devolva devolvam devolucion devolucao reimburse reimbursement estorno estornar',
  },
  {
    name: 'delete',
    acts: true,
    words:
      'delete deletes deletion remove remover erase borrar borra borre eliminar elimina elimine apagar apague excluir exclua',
  },
  {
    name: 'change',
    acts: true,
    words:
      'change changes update updates modify edit reschedule move cambiar cambia cambie cambio modificar modifica modifique actualizar actualice actualiza reprogramar reagendar mudar mude alterar altere atualizar atualize remarcar trocar',
  },
  {
    name: 'book',
    acts: true,
    words:
      'book booking bookings reserve reservation reservations reservar reserva reserve reservas reservacion schedule agendar agende agenda agendamento marcar marque appointment appointments cita citas turno turnos',
  },
  {
    name: 'pay',
    acts: true,
    words:
      'pay pays charge pagar pague pago paga cobrar cobre cobro cobrar pagamento payment payments pagos',
  },
  { name: 'buy', acts: true, words: 'buy purchase comprar compre compro compra' },
  {
    name: 'subscribe',
    acts: true,
    words: 'subscribe suscribir suscribirme suscripcion inscrever assinar assinatura subscription',
  },
  { name: 'unsubscribe', acts: true, words: 'unsubscribe desuscribir desinscrever descadastrar' },
  { name: 'order', words: 'order orders pedido pedidos orden ordenes encomenda encomendas' },
  {
    name: 'track',
    words:
      'track tracking trace rastrear rastreo rastreamento rastreio seguimiento status estado situacao',
  },
  {
    name: 'delivery',
    words:
      'delivery deliver delivers delivered shipping shipment ship ships shipped entrega entregas entregar entregan entregam envio envios enviar envian enviam parcel package paquete pacote',
  },
  {
    name: 'price',
    words:
      'price prices pricing cost costs precio precios preco precos cuesta cuestan custa custam costo custo tarifa valor quote cotizacion cotacao orcamento presupuesto',
  },
  {
    name: 'hours',
    words:
      'hour hours horario horarios open opening abren abre abrem abierto aberto cierran fecham schedule',
  },
  {
    name: 'invoice',
    words: 'invoice invoices bill factura facturas fatura faturas boleto boletos receipt recibo',
  },
  {
    name: 'stock',
    words:
      'stock availability available inventory disponible disponibles disponibilidad disponivel disponiveis disponibilidade estoque inventario',
  },
  { name: 'weather', words: 'weather forecast clima tempo pronostico previsao' },
  {
    name: 'product',
    words:
      'product products item items producto productos produto produtos articulo articulos catalogue catalog catalogo',
  },
  {
    name: 'address',
    words: 'address location located direccion ubicacion ubicados endereco localizacao',
  },
  { name: 'balance', words: 'balance saldo' },
  { name: 'account', words: 'account accounts cuenta cuentas conta contas' },
  { name: 'password', words: 'password contrasena clave senha' },
  {
    name: 'complaint',
    words:
      'complaint complaints complain queja quejas reclamo reclamos reclamacion reclamacao ticket',
  },
  {
    name: 'discount',
    words:
      'discount discounts coupon descuento descuentos desconto descontos cupon cupom promocion promocao',
  },
  { name: 'warranty', words: 'warranty guarantee garantia' },
  {
    name: 'people',
    words:
      'people person persons guest guests party pax persona personas comensales pessoa pessoas convidados hospedes huespedes',
  },
  { name: 'adults', words: 'adult adults adulto adultos' },
  { name: 'children', words: 'child children kid kids nino ninos crianca criancas menores' },
  {
    name: 'quantity',
    words: 'quantity qty units unit cantidad unidades unidad quantidade unidade',
  },
  { name: 'nights', words: 'night nights noche noches noite noites' },
  { name: 'table', words: 'table mesa' },
  { name: 'room', words: 'room rooms habitacion habitaciones quarto quartos cuarto' },
];

const BY_STEM: ReadonlyMap<string, Concept> = new Map(
  CONCEPTS.toReversed().flatMap((concept) =>
    wordsOf(concept.words).map((word) => [stem(word), concept] as const),
  ),
);

/**
 * What a word of one language is called in all of them: `=order`; null for a word that is in no
 * concept.
 */
export function conceptOf(stemmed: string): string | null {
  const concept = BY_STEM.get(stemmed);
  return concept === undefined ? null : `=${concept.name}`;
}

/**
 * The concept that a tool with this name acts on things by: `=cancel` for `cancel_order`; null when
 * it acts by none.
 */
export function actingConcept(nameWords: readonly string[]): string | null {
  const acting = nameWords.map((word) => BY_STEM.get(stem(word))).find((concept) => concept?.acts);
  return acting === undefined ? null : `=${acting.name}`;
}
