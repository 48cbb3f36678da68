/** `rewards lane retire`: an account whose key was replaced. */
import type { OfflineLedger } from '../../production/offline/offline-ledger.ts';
import type { Handler } from '../machine/context.ts';
import { CliError, problemOf } from '../machine/errors.ts';
import { type LedgerOptions, ledgerSecrets } from '../machine/setting-options.ts';
import { withLedger } from '../service/ledger.ts';

type Lanes = Awaited<ReturnType<OfflineLedger['lanes']>>;
type RetireRefusal = Extract<Awaited<ReturnType<Lanes['planRetirement']>>, { refusal: unknown }>['refusal'];

export const retireLane: Handler<
  LedgerOptions & { finalityBlocks: number; account: string; reason: string; by: string; yes?: boolean }
> = async (context, options) =>
  withLedger(context, options, async (ledger) => {
    const { account, reason, by } = options;
    const lanes = await ledger.lanes(ledgerSecrets(options).nodes, options.finalityBlocks);
    const planned = await lanes.planRetirement(account);
    if ('refusal' in planned) throw refused(planned.refusal);
    if (!options.yes) {
      const message = `Nothing was changed: ${planned.lane} would be retired for good.`;
      const fix = 'Run it again with --yes once its key is in no file of a service.';
      throw new CliError('E_REFUSED', { ...problemOf('E_REFUSED'), message, fix, details: planned });
    }
    const retired = await lanes.retire(account, { name: by, reason });
    if ('refusal' in retired) throw refused(retired.refusal);
    return {
      ok: true,
      data: { lane: retired.lane, by, reason },
      text: (style) => `${style.green('retired')}  ${retired.lane}`,
    };
  });

function refused(refusal: RetireRefusal): CliError {
  const [message, fix] = texts(refusal);
  return new CliError('E_REFUSED', { ...problemOf('E_REFUSED'), message, fix, details: refusal });
}

function texts(refusal: RetireRefusal): [message: string, fix: string] {
  switch (refusal.code) {
    case 'unknown_lane':
      return [
        'The ledger has not sent anything from this account.',
        `Name one of ${refusal.known.join(', ') || 'its accounts, once there is one'}.`,
      ];
    case 'retired_before':
      return [`${refusal.by} retired it at ${refusal.at}.`, 'There is nothing left to do.'];
    case 'gas_wallet':
      return [
        `It is the gas wallet of ${refusal.payer === 'service' ? 'the service' : refusal.payer}, which keeps it.`,
        'Gas wallets grow from the relay key, which stays the same for the life of the ledger.',
      ];
    case 'in_use':
      return [
        `A process sends from ${refusal.lane} now.`,
        'Stop it, or start it with the new key; then wait some seconds and run it again.',
      ];
    case 'open':
      return [
        `${refusal.open} transactions of ${refusal.lane} are not final yet.`,
        'Wait until their blocks are final; a process with the role outbox has to read them.',
      ];
  }
}
