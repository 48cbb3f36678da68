/** The node as the service reaches it, failing while a fault is set. */
import { type Rpc, RpcAnswerError, RpcUnreachableError } from '../../chain/rpc/rpc.ts';
import { delay } from '../../lib/timers.ts';
import type { FaultRegistry } from './fault-registry.ts';

const SEND = 'eth_sendRawTransaction';

/** `timeoutMs`: the connection's own, which a slow node exceeds. */
export function faultyNode(
  { rpc, faults }: { rpc: Rpc; faults: Pick<FaultRegistry, 'strike'> },
  { timeoutMs }: { timeoutMs: number },
): Rpc {
  return async (method, params, limits) => {
    const slow = faults.strike('node', ['slow']);
    if (slow) {
      await delay(Math.min(slow.amount ?? 0, timeoutMs));
      if ((slow.amount ?? 0) >= timeoutMs) throw new RpcUnreachableError(method, 'no answer', 'timeout');
    }
    const priced = method === 'eth_getBlockByNumber' ? faults.strike('node', ['base-fee']) : undefined;
    if (priced) return withBaseFee(await rpc(method, params, limits), priced.amount ?? 0);
    const always = ['away', 'refused'] as const;
    const struck = faults.strike(
      'node',
      method === SEND ? [...always, 'answer-lost', 'fee-cap'] : [...always],
    );
    switch (struck?.effect) {
      case 'away':
        throw new RpcUnreachableError(method, 'no answer', 'ECONNREFUSED');
      case 'refused':
        throw new RpcAnswerError(method, { code: 429, message: 'Too Many Requests' });
      case 'fee-cap':
        throw new RpcAnswerError(method, {
          code: -32000,
          message: 'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)',
        });
      case 'answer-lost':
        await rpc(method, params, limits);
        throw new RpcUnreachableError(method, 'no answer', 'ECONNRESET');
      default:
        return rpc(method, params, limits);
    }
  };
}

const withBaseFee = (block: unknown, gwei: number): unknown =>
  block === null
    ? null
    : { ...(block as object), baseFeePerGas: `0x${(BigInt(gwei) * 1_000_000_000n).toString(16)}` };
