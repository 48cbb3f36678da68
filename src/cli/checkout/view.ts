/** Checkouts for people: one on a line, one in full. */
import type { CheckoutSession, ProcessorEvents } from '../../contract/control/processor.ts';
import type { Style } from '../terminal/style.ts';

/** `5.00 usd`. The emulator's own sessions are in dollars; others may be in a currency without cents. */
const money = (amount: number, currency: string) => `${(amount / 100).toFixed(2)} ${currency}`;

/** `complete paid`, `open`, `expired`. */
function stateOf(
  { status, paymentStatus, refunded, amount, disputed }: CheckoutSession,
  style: Style,
): string {
  const paid = paymentStatus !== 'unpaid';
  const paint = status === 'expired' ? style.dim : status === 'open' || !paid ? style.yellow : style.green;
  return [
    paint(status === 'complete' ? (paid ? 'paid' : 'complete, unpaid until it arrives') : status),
    ...(refunded > 0
      ? [style.yellow(refunded === amount ? 'refunded' : `${refunded} of ${amount} refunded`)]
      : []),
    ...(disputed ? [style.red('disputed')] : []),
  ].join(', ');
}

export const sessionLine = (session: CheckoutSession, style: Style): string =>
  [
    style.dim(session.createdAt.slice(0, 19).replace('T', ' ')),
    session.id,
    style.bold(money(session.amount, session.currency)),
    stateOf(session, style),
    session.email ?? '',
  ].join('  ');

export function sessionText(
  session: CheckoutSession,
  events: ProcessorEvents['events'],
  style: Style,
): string {
  const row = (name: string, text: string | null) =>
    text === null || text === '' ? [] : [`  ${style.dim(name.padEnd(9))} ${text}`];
  return [
    `${style.bold(money(session.amount, session.currency))}  ${stateOf(session, style)}`,
    ...row('session', session.id),
    ...row('checkout', session.checkoutId),
    ...row('buyer', session.email),
    ...row('payment', session.paymentIntentId),
    ...Object.entries(session.metadata).flatMap(([key, value]) => row(key, value)),
    ...row('page', session.url),
    ...row(
      session.status === 'open' ? 'expires' : 'created',
      session.status === 'open' ? session.expiresAt : session.createdAt,
    ),
    ...events.map((event) => eventLine(event, style)),
  ].join('\n');
}

/** What the processor has told about a checkout, and who took it. */
function eventLine({ id, type, deliveries }: ProcessorEvents['events'][number], style: Style): string {
  const states = deliveries.map(({ state, attempts }) => {
    const paint = state === 'delivered' ? style.green : state === 'failed' ? style.red : style.yellow;
    const last = attempts.at(-1);
    const said = last === undefined || state === 'delivered' ? '' : ` ${last.status ?? last.answer}`;
    return paint(`${state}${said}`);
  });
  return `  ${style.dim('told'.padEnd(9))} ${type}  ${style.dim(id)}  ${states.join(', ') || style.dim('nobody')}`;
}
