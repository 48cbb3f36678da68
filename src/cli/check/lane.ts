/** `rewards lane show|accept-nonce|retire`: the sending accounts of a production ledger. */
import type { OfflineLedger } from '../../production/offline/offline-ledger.ts';
import type { Handler } from '../machine/context.ts';
import { CliError, problemOf } from '../machine/errors.ts';
import { type LedgerOptions, ledgerSecrets } from '../machine/shared-options.ts';
import { withLedger } from '../service/ledger.ts';
import type { Style } from '../terminal/style.ts';

type Lanes = Awaited<ReturnType<OfflineLedger['lanes']>>;
type LaneState = Awaited<ReturnType<Lanes['show']>>[number];

type LaneOptions = LedgerOptions & { finalityBlocks: number };

export const showLane: Handler<LaneOptions> = async (context, options) =>
  withLedger(context, options, async (ledger) => {
    const { show } = await ledger.lanes(ledgerSecrets(options).nodes, options.finalityBlocks);
    const lanes = await show();
    return {
      ok: true,
      data: { lanes },
      text: (style) =>
        lanes.length === 0
          ? style.dim('no account has sent anything yet')
          : lanes.flatMap((lane) => laneLines(lane, style)).join('\n'),
    };
  });

function laneLines({ lane, purpose, nonce, open, foreign, accepted }: LaneState, style: Style): string[] {
  const state = foreign ? style.red('stands still: others used its nonces') : style.green('goes on');
  const nonces = `next nonce ${nonce.ledger ?? 'none'} by the ledger, ${nonce.chain} on chain, ${nonce.final} in final blocks`;
  return [
    `${style.bold(lane)}  ${purpose}  ${state}`,
    `  ${nonces}; ${open} transactions in no block`,
    ...accepted.map(
      ({ fromNonce, nextNonce, by, reason, at }) =>
        `  ${style.dim(`nonces ${fromNonce} to ${nextNonce - 1} accepted by ${by} at ${at}: ${reason}`)}`,
    ),
  ];
}

export const acceptNonce: Handler<
  LaneOptions & { account: string; reason: string; by: string; yes?: boolean }
> = async (context, options) =>
  withLedger(context, options, async (ledger) => {
    const { account, reason, by } = options;
    const lanes = await ledger.lanes(ledgerSecrets(options).nodes, options.finalityBlocks);
    const planned = await lanes.plan(account);
    if ('refusal' in planned) {
      const refusal = planned.refusal;
      throw refused(...refusalText(refusal, options.finalityBlocks), refusal);
    }
    const { fromNonce, nextNonce, lane } = planned;
    const nonces =
      nextNonce - fromNonce === 1 ? `nonce ${fromNonce}` : `nonces ${fromNonce} to ${nextNonce - 1}`;
    if (!options.yes) {
      const message = `Nothing was changed: ${lane.lane} would skip ${nonces}, which others used in final blocks, and go on with ${nextNonce}.`;
      throw refused(message, 'Find out who sent them; then run it again with --yes.', {
        fromNonce,
        nextNonce,
      });
    }
    if (!(await lanes.accept(planned, { name: by, reason })))
      throw refused(
        'The account has gone on meanwhile; nothing was changed.',
        'Run `rewards lane show`.',
        {},
      );
    return {
      ok: true,
      data: { lane: lane.lane, fromNonce, nextNonce, by, reason },
      text: (style) =>
        `${style.green('accepted')}  ${lane.lane} skips ${nonces} and goes on with ${nextNonce}`,
    };
  });

const refused = (message: string, fix: string, details: Record<string, unknown>) =>
  new CliError('E_REFUSED', { ...problemOf('E_REFUSED'), message, fix, details });

type Refusal = Extract<Awaited<ReturnType<Lanes['plan']>>, { refusal: unknown }>['refusal'];

function refusalText(refusal: Refusal, finalityBlocks: number): [message: string, fix: string] {
  if (refusal.code === 'unknown_lane')
    return [
      'The ledger has not sent anything from this account.',
      `Name one of ${refusal.known.join(', ') || 'its accounts, once there is one'}.`,
    ];
  const { lane, nonce } = refusal.lane;
  if (refusal.code === 'nothing_foreign')
    return [
      `${lane} has used no nonce that the ledger does not know.`,
      '`rewards lane show` shows its nonces.',
    ];
  return [
    `${lane} has used nonces up to ${nonce.chain - 1} on chain; in final blocks, ${finalityBlocks} deep, only those up to ${nonce.final - 1}.`,
    'Wait until the blocks are final, then run it again.',
  ];
}

type RetireRefusal = Extract<Awaited<ReturnType<Lanes['planRetirement']>>, { refusal: unknown }>['refusal'];

export const retireLane: Handler<
  LedgerOptions & { finalityBlocks: number; account: string; reason: string; by: string; yes?: boolean }
> = async (context, options) =>
  withLedger(context, options, async (ledger) => {
    const { account, reason, by } = options;
    const lanes = await ledger.lanes(ledgerSecrets(options).nodes, options.finalityBlocks);
    const planned = await lanes.planRetirement(account);
    if ('refusal' in planned) throw retireRefused(planned.refusal);
    if (!options.yes) {
      const message = `Nothing was changed: ${planned.lane} would be retired for good.`;
      const fix = 'Run it again with --yes once its key is in no file of a service.';
      throw new CliError('E_REFUSED', { ...problemOf('E_REFUSED'), message, fix, details: planned });
    }
    const retired = await lanes.retire(account, { name: by, reason });
    if ('refusal' in retired) throw retireRefused(retired.refusal);
    return {
      ok: true,
      data: { lane: retired.lane, by, reason },
      text: (style) => `${style.green('retired')}  ${retired.lane}`,
    };
  });

function retireRefused(refusal: RetireRefusal): CliError {
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
