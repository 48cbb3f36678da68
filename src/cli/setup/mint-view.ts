/** What became of a mint, for people. */
import type { Funding, Mint } from '../../contract/control/mints.ts';
import { isObject } from '../service/assignments.ts';
import type { Style } from '../terminal/style.ts';

export function mintText(mint: Mint, style: Style): string {
  const { state, amount, to, failure, transactionHash, transaction } = mint;
  const what = `${amount} RWT for ${to}`;
  if (state === 'given_up') return `${style.red('not minted')} ${what}: the points sale says ${failure}`;
  if (state === 'waiting') return waitingMintText({ what, transaction }, style);
  return [
    `${style.green('minted')} ${what}`,
    `  ${style.dim('transaction'.padEnd(12))} ${transactionHash ?? '-'}`,
  ].join('\n');
}

/** A mint that waits for a service with the key, and the call with which an operator can do it instead. */
export function waitingMintText(
  { what, transaction }: { what: string; transaction: Funding['transaction'] },
  style: Style,
): string {
  return [
    `${style.yellow('waiting')} ${what}; the reason is recorded`,
    'The running service mints it when it has a --mint-key-file. Another account can do it instead:',
    `  ${style.dim('chain'.padEnd(8))} ${transaction?.chainId ?? '-'}`,
    `  ${style.dim('from'.padEnd(8))} an account with OPERATOR_ROLE on the points sale, not the one of --mint-key-file`,
    `  ${style.dim('to'.padEnd(8))} ${transaction?.to ?? '-'}`,
    `  ${style.dim('data'.padEnd(8))} ${transaction?.data ?? '-'}`,
    'Sent twice, it mints once. The ledger has it when the service has read the block.',
  ].join('\n');
}

/** What payment-mint answered for a session that is paid. */
export function sessionMintText(body: unknown, style: Style): string {
  const { rwtAmount, walletAddress, txHash, usdAmount, alreadyProcessed } = isObject(body) ? body : {};
  const state = alreadyProcessed === true ? style.yellow('minted before') : style.green('minted');
  return [
    `${state} ${rwtAmount} RWT for ${walletAddress}, of ${usdAmount} dollars`,
    `  ${style.dim('transaction'.padEnd(12))} ${txHash}`,
  ].join('\n');
}
