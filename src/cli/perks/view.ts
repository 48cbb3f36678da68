/** Perks, for people. */

import type { CodeBody, RedeemedPerkBody } from '../../client/bodies.ts';
import type { ManagedPerk } from '../../contract/control/perks.ts';
import type { Style } from '../terminal/style.ts';

/** `3  Enamel mug  600 RWT  physical  20 in all  on  493a88d1-…`. */
export function perkLine(perk: ManagedPerk, style: Style): string {
  const { id, tokenId, name, cost, category, stock, active, constraints, terms, failure } = perk;
  return [
    `${tokenId}`,
    style.bold(name),
    `${cost} RWT`,
    category,
    stock === -1 ? 'unlimited' : `${stock} in all`,
    active ? style.green('on') : style.yellow('off'),
    ...(constraints.length > 0 ? [constraints.map(({ type }) => type).join(' and ')] : []),
    ...(terms === 'waiting' ? [style.yellow('the contract is not told yet')] : []),
    ...(terms === 'failed' ? [style.red(`the contract refuses it: ${failure}`)] : []),
    style.dim(id),
  ].join('  ');
}

/** `7KQ2-M9XT-4HVC  valid  Ten percent off  alice@demo.example  250 RWT`. */
export function codeLine(body: CodeBody, style: Style): string {
  const { confirmationCode, state, perkName, perkId, user, cost, usedAt } = body;
  const shown = state === 'valid' ? style.green(state) : style.yellow(usedAt ? `used ${usedAt}` : state);
  return [confirmationCode, shown, style.bold(perkName ?? perkId), user, `${cost} RWT`].join('  ');
}

/** `7KQ2-M9XT-4HVC  Ten percent off  alice@demo.example  250 RWT  0x5f…`. */
export function redeemedLine(body: RedeemedPerkBody, user: string, style: Style): string {
  const { confirmationCode, perk, transactionHash } = body;
  return [style.bold(confirmationCode), perk.name, user, `${perk.cost} RWT`, style.dim(transactionHash)].join(
    '  ',
  );
}
