/** Builds the relay host from parts that have been picked already. */
import { createAddressGate } from '../actions/admit-address.ts';
import { createRelayQueue } from '../actions/relay/queue-relays.ts';
import { createRelayTransaction } from '../actions/relay/relay-transaction.ts';
import type { HostFrameDeps } from '../http/frame/host-frame.ts';
import { createRelayHost } from '../http/relay/host.ts';
import { createRelayRefuser } from '../http/relay/refusals.ts';
import type { TokenVerifier } from '../identity/tokens.ts';
import { readWindow } from '../ledger/limits/rate-windows.ts';
import { systemClock } from '../lib/clock.ts';
import { settings } from './config.ts';
import type { HostParts } from './create-hosts.ts';

/** `idle` resolves when no call is being queued. */
export function createRelay(
  parts: Pick<HostParts, 'chain' | 'rpc' | 'engine' | 'facts' | 'relay' | 'httpsOnly' | 'onRelay'>,
  frame: Omit<HostFrameDeps, 'settings'>,
  tokens: TokenVerifier,
) {
  const { database, clock, random } = frame;
  const { userLimit, addressLimit, gasMax, budgetGwei, ...limits } = {
    ...settings.relayHost,
    ...parts.relay,
  };
  const batch = { batchMax: settings.decideBatchMax, triesMax: settings.decideTriesMax };
  const queue = createRelayQueue({ database, userLimit, ...batch });
  const relayTransaction = createRelayTransaction({
    ...{ database, clock, random },
    chain: parts.chain,
    rpc: parts.rpc,
    contracts: parts.facts.contracts,
    queue: queue.queue,
    relays: parts.engine.relays,
    settings: {
      userLimit,
      gasMax,
      fees: { ...settings.fees, feeCapWei: limits.feeCapWei },
      permitMarginMs: limits.permitMarginMs,
      budgetGwei,
      answerTimeoutMs: limits.answerTimeoutMs,
    },
  });
  const host = createRelayHost({
    ...frame,
    realClock: systemClock(),
    tokens,
    admitAddress: createAddressGate({
      ...{ database, clock, ...batch },
      limit: addressLimit,
      windowsKeptMs: limits.windowsKeptMs,
    }),
    async relayTransaction(request, effect) {
      const outcome = await relayTransaction(request, effect);
      parts.onRelay?.('refusal' in outcome ? outcome.refusal.code : 'confirmed');
      return outcome;
    },
    windowOf: (subject) => readWindow(database.db, { ...userLimit, subject, nowMs: clock.now() }),
    refuser: createRelayRefuser({ clock }),
    settings: {
      httpsOnly: parts.httpsOnly,
      bodyLimitBytes: limits.bodyLimitBytes,
      explorerUrl: limits.explorerUrl,
    },
  });
  return { host, idle: queue.idle };
}
