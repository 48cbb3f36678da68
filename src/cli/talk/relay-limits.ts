/** `rewards relay limits`: how far limits and gas budgets are used up, and what the sending accounts have under way. */
import { type RelayState, showRelay } from '../../contract/control/relay.ts';
import { formatDuration } from '../../lib/duration.ts';
import { coinsOfGwei } from '../../lib/gas-money.ts';
import { asks } from '../service/control.ts';
import { type Style, shortAddress } from '../terminal/style.ts';

export const showLimits = asks(showRelay, {
  request: ({ user, limit }: { user?: string; limit: number }) => ({ query: { user, limit } }),
  text: ({ users, addresses, payers, lanes }, style) =>
    [
      ...windowLines('users', users, style),
      ...windowLines('addresses', addresses, style),
      head('gas', payers, `a day, again at ${payers.resetAt}`, style),
      ...payers.shown.map((payer) => payerLine(payer, style)),
      head('lanes', lanes, 'sending accounts', style),
      ...lanes.shown.map((lane) => laneLine(lane, style)),
    ].join('\n'),
});

function head(
  name: string,
  { total, shown }: { total: number; shown: readonly unknown[] },
  what: string,
  style: Style,
): string {
  const more = total > shown.length ? `, the busiest ${shown.length} of ${total}` : '';
  return `${style.bold(name)}  ${style.dim(what + more)}${total === 0 ? style.dim(', none') : ''}`;
}

function windowLines(name: string, windows: RelayState['users'], style: Style): string[] {
  const { limit, windowSeconds, shown } = windows;
  const each = `${limit} in ${formatDuration(windowSeconds * 1_000)} each`;
  return [
    head(name, windows, each, style),
    ...shown.map(({ subject, used, left, resetAt }) =>
      [
        `  ${subject}`,
        (left === 0 ? style.red : style.bold)(`${used} of ${limit}`),
        style.dim(`back to ${limit} at ${resetAt}`),
      ].join('  '),
    ),
  ];
}

const payerLine = (
  { payer, address, ready, budgetGwei, spentGwei, leftGwei }: RelayState['payers']['shown'][number],
  style: Style,
) =>
  [
    `  ${payer}`,
    `${coinsOfGwei(spentGwei)} of ${coinsOfGwei(budgetGwei)} spent`,
    (leftGwei <= 0 ? style.red : style.green)(`${coinsOfGwei(leftGwei)} left`),
    style.dim(`from ${shortAddress(address)}${ready ? '' : ', which cannot send yet'}`),
  ].join('  ');

const laneLine = (
  { address, purpose, nextNonce, underWay, leaseUntil }: RelayState['lanes']['shown'][number],
  style: Style,
) =>
  [
    `  ${address}`,
    purpose,
    `nonce ${nextNonce ?? 'none yet'}`,
    `${underWay} under way`,
    leaseUntil === null ? style.yellow('held by nobody') : style.dim(`held until ${leaseUntil}`),
  ].join('  ');
