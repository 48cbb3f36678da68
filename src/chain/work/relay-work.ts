/** The work of a gas wallet: sends what users asked for, one call after the other, each permit just before its call. */
import type { Hex } from 'viem';
import { chargeGas } from '../../ledger/relay/gas-charges.ts';
import { bindTopUp, nextTopUp } from '../../ledger/relay/gas-wallets.ts';
import { bindRelay, nextRelay, type Relay } from '../../ledger/relay/queued-relays.ts';
import type { Settle } from '../../ledger/transactions/settle.ts';
import type { LaneWork, Payload } from '../lane/types.ts';

/** Gas of a plain transfer of native currency. */
const TRANSFER_GAS = 21_000n;

/** `fundsOthers`: this wallet also sends native currency to the other gas wallets. */
export function relayWork(deps: { lane: Hex; fundsOthers: boolean; onSent: () => void }): LaneWork {
  const { lane } = deps;
  return {
    async bindNext(tx, transactionId) {
      const relay = await nextRelay(tx, lane);
      // Nothing comes between a permit and its call.
      const permitIsBound = relay !== undefined && relay.permitTransactionId !== null;
      const topUp = deps.fundsOthers && !permitIsBound ? await nextTopUp(tx, lane) : undefined;
      if (topUp) {
        await bindTopUp(tx, topUp.id, transactionId);
        return { to: topUp.wallet, data: '0x', valueWei: BigInt(topUp.amountWei), gas: TRANSFER_GAS };
      }
      if (!relay) return undefined;
      const part = relay.permit && !permitIsBound ? 'permit' : 'call';
      await bindRelay(tx, { position: relay.position, part, transactionId });
      return payloadOf(relay, part);
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

function payloadOf(relay: Relay, part: 'permit' | 'call'): Payload {
  const { recipient, data, valueWei, gas, permit } = relay;
  if (part === 'permit' && permit) {
    return { to: permit.to, data: permit.data, valueWei: 0n, gas: BigInt(permit.gas) };
  }
  return { to: recipient, data, valueWei: BigInt(valueWei), gas: BigInt(gas) };
}
