/** The work of a gas wallet: sends what users asked for, one call after the other, each permit just before its call. */
import type { Hex } from 'viem';
import { chargeGas } from '../../ledger/relay/gas-charges.ts';
import { bindTopUp, type GasTopUp, nextTopUp, nextTopUps } from '../../ledger/relay/gas-wallets.ts';
import {
  type BoundPart,
  bindRelays,
  isRelayWaiting,
  nextRelays,
  type Relay,
} from '../../ledger/relay/queued-relays.ts';
import type { Settle } from '../../ledger/transactions/settle.ts';
import type { LaneWork, Payload } from '../lane/types.ts';

/** Gas of a plain transfer of native currency. */
const TRANSFER_GAS = 21_000n;

/** `fundsOthers`: this wallet also sends native currency to the other gas wallets. */
export function relayWork(deps: { lane: Hex; fundsOthers: boolean; onSent: () => void }): LaneWork {
  const { lane } = deps;
  return {
    isWaiting: async (db) =>
      (await isRelayWaiting(db, lane)) || (deps.fundsOthers && (await nextTopUp(db, lane)) !== undefined),
    async bindNext(tx, transactionIds) {
      const relays = await nextRelays(tx, lane, transactionIds.length);
      const topUps = deps.fundsOthers ? await nextTopUps(tx, lane, transactionIds.length) : [];
      const parts = relays.flatMap(partsOf);
      // Nothing comes between a permit and its call; before all others comes gas money.
      const begun = parts[0]?.relay.permitTransactionId ? parts.splice(0, 1) : [];
      const next = [...begun, ...topUps, ...parts].slice(0, transactionIds.length);
      const bound: BoundPart[] = [];
      for (const [place, one] of next.entries()) {
        const transactionId = transactionIds[place] as string;
        if ('relay' in one) bound.push({ position: one.relay.position, part: one.part, transactionId });
        else await bindTopUp(tx, one.id, transactionId);
      }
      await bindRelays(tx, bound);
      return next.map((one) => ('relay' in one ? payloadOf(one) : transferOf(one)));
    },
    sent: deps.onSent,
  };
}

/** The payers get back what was kept for calls that will never happen; other calls were settled by their blocks. */
export const settleRelays: Settle = (tx, { transactions }) =>
  chargeGas(
    tx,
    transactions.map(({ id }) => id),
  );

const transferOf = ({ wallet, amountWei }: GasTopUp): Payload => ({
  to: wallet,
  data: '0x',
  valueWei: BigInt(amountWei),
  gas: TRANSFER_GAS,
});

interface RelayPart {
  relay: Relay;
  part: BoundPart['part'];
}

/** What is left to send of a call: the permit before it, unless that is on its way, and the call. */
function partsOf(relay: Relay): RelayPart[] {
  const call: RelayPart = { relay, part: 'call' };
  return relay.permit && relay.permitTransactionId === null ? [{ relay, part: 'permit' }, call] : [call];
}

function payloadOf({ relay, part }: RelayPart): Payload {
  const { recipient, data, valueWei, gas, permit } = relay;
  if (part === 'permit' && permit) {
    return { to: permit.to, data: permit.data, valueWei: 0n, gas: BigInt(permit.gas) };
  }
  return { to: recipient, data, valueWei: BigInt(valueWei), gas: BigInt(gas) };
}
