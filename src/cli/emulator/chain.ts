/** `rewards chain`: contracts, accounts and supply, blocks with what they call, and one transaction in words. */
import * as chain from '../../contract/control/chain.ts';
import { coinsOfWei } from '../../lib/gas-money.ts';
import { asks } from '../service/control.ts';
import type { Style } from '../terminal/style.ts';

export const showChain = asks(chain.showChain, {
  text: ({ chainId, head, contracts, accounts, token }, style) =>
    [
      `chain ${chainId}, ${head ? `block ${head.number} at ${head.at}` : 'no block yet'}`,
      style.bold('contracts'),
      ...contracts.map(({ name, address }) => `  ${name.padEnd(10)}  ${address}`),
      style.bold('accounts'),
      ...accounts.map(
        ({ address, is, wei, rwt }) =>
          `  ${address}  ${coinsOfWei(wei)} of gas money, ${rwt} RWT  ${style.dim(is)}`,
      ),
      style.bold('RWT'),
      `  ${token.supply} on chain, ${token.escrowed} of them in escrow`,
      `  ${token.ledgerMinted} minted by the ledger, ${token.ledgerRewarded} rewarded  ${style.dim('rewards verify compares each')}`,
    ].join('\n'),
});

export const listBlocks = asks(chain.listBlocks, {
  request: ({ limit, before }: { limit: number; before?: number }) => ({ query: { limit, before } }),
  text: ({ blocks }, style) =>
    blocks.length === 0 ? style.dim('no blocks') : blocks.map((one) => blockText(one, style)).join('\n'),
});

export const showBlock = asks(chain.showBlock, {
  request: ({ number, from, limit }: { number: number; from: number; limit: number }) => ({
    path: { block: String(number) },
    query: { from, limit },
  }),
  text: (block, style) => blockText(block, style),
});

const blockText = ({ number, at, count, transactions }: chain.BlockList['blocks'][number], style: Style) =>
  [
    `${style.bold(`block ${number}`)}  ${style.dim(at)}`,
    ...transactions.map((one) => `  ${rowText(one, style)}`),
    ...(count > transactions.length ? [`  and ${count - transactions.length} more`] : []),
  ].join('\n');

export const showTransaction = asks(chain.showTransaction, {
  request: ({ hash }: { hash: string }) => ({ path: { hash } }),
  text: (shown, style) => {
    const { args, payouts, logs, block, ledger, feeWei, nonce, from, to } = shown;
    return [
      rowText({ ...shown, payouts: payouts.count }, style),
      `  from ${from}, nonce ${nonce}, to ${to ?? 'a new contract'}`,
      `  ${block ? `in block ${block.number} at ${block.at}` : 'in no block yet'}${feeWei === null ? '' : `, for ${coinsOfWei(feeWei)}`}`,
      ...(ledger ? [`  the ledger: ${ledger.purpose}, ${ledger.status}, ${ledger.outcome ?? 'open'}`] : []),
      ...args.map((one) => `  ${style.dim(one.name)}  ${one.value}`),
      ...payouts.shown.map(
        ({ sequence, brandId, to: user, amount }) =>
          `  reward ${sequence}: ${amount} RWT to ${user} by ${brandId}`,
      ),
      ...logs.shown.map(({ address, contract, event, args: told }) =>
        [
          `  ${style.bold(`${contract ?? address}.${event ?? 'unknown'}`)}`,
          ...told.map(({ name, value }) => `${style.dim(name)} ${value}`),
        ].join('  '),
      ),
    ].join('\n');
  },
});

type Row = chain.BlockList['blocks'][number]['transactions'][number];

function rowText(
  {
    hash,
    contract,
    call,
    to,
    state,
    lane,
    payouts,
  }: Pick<Row, 'hash' | 'contract' | 'call' | 'to' | 'state' | 'lane' | 'payouts'>,
  style: Style,
): string {
  const paint = { done: style.green, reverted: style.red, waiting: style.yellow }[state];
  const called = contract === null ? (to ?? 'a new contract') : `${contract}.${call ?? 'unknown'}`;
  return [
    paint(state),
    called,
    ...(payouts > 0 ? [`${payouts} ${payouts === 1 ? 'reward' : 'rewards'}`] : []),
    ...(lane ? [style.dim(`${lane} lane`)] : []),
    style.dim(hash),
  ].join('  ');
}
