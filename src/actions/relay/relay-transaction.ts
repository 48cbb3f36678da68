/** One call on behalf of a user, from its checks to its block (contract: POST relay). */
import { createL1FeeReader } from '../../chain/contracts/calls/l1-fee.ts';
import { contractNamed, readCall } from '../../chain/contracts/calls/relay-calldata.ts';
import type { ContractAddresses } from '../../chain/contracts/deployment-steps.ts';
import { createPermitReader, type Permit } from '../../chain/contracts/permit.ts';
import { type FeePolicy, priceTransaction } from '../../chain/lane/fees.ts';
import type { Block, ChainClient } from '../../chain/rpc/client.ts';
import { type Rpc, RpcAnswerError, RpcUnreachableError } from '../../chain/rpc/rpc.ts';
import { isIncluded, type RelayWaiters } from '../../chain/waiting/relay-waiters.ts';
import type { BusinessTime, Database } from '../../ledger/database/database.ts';
import { type RateLimit, type RateWindow, readWindows } from '../../ledger/limits/rate-windows.ts';
import type { StoredPerk } from '../../ledger/perks/perks.ts';
import { budgetDay } from '../../ledger/relay/gas-budgets.ts';
import type { GasWallet } from '../../ledger/relay/gas-wallets.ts';
import { type RelayProgress, readRelays } from '../../ledger/relay/queued-relays.ts';
import type { GasPayer, PermitCall } from '../../ledger/schema/relay.ts';
import { createBatcher } from '../../lib/batch/batcher.ts';
import { createTickDedupe } from '../../lib/batch/shared-answers.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Hex } from '../../lib/hex.ts';
import type { Random } from '../../lib/ids.ts';
import type { CheckConstraints } from '../../rules/constraint.ts';
import {
  type ContractName,
  gasMaxOf,
  gasOfData,
  perkBought,
  refuseCall,
  type ValidationProblem,
} from '../../rules/relay-policy.ts';
import { emailKey } from '../../rules/user-key.ts';
import type { Effect } from '../answer-once.ts';
import { createPayerLookUp, createSellerReader, findPayer } from './find-payer.ts';
import type { createRelayQueue } from './queue-relays.ts';
import { type TryRelayDeps, tryCall } from './simulate-relay.ts';

const GWEI = 1_000_000_000n;
/** Percent: the price of data on the other chain moves until a block holds the call. */
const L1_MARGIN = 150n;

interface RelayTransactionDeps {
  database: Database;
  chain: Pick<ChainClient, 'block'>;
  rpc: Rpc;
  contracts: ContractAddresses;
  clock: Clock;
  businessTime: BusinessTime;
  random: Random;
  checkConstraints: CheckConstraints;
  queue: ReturnType<typeof createRelayQueue>['queue'];
  relays: Pick<RelayWaiters, 'waitFor'> & { nudge(lane: Hex): void };
  settings: {
    userLimit: RateLimit;
    /** Contract: Limits, Relay gas. */
    gasMax: number;
    /** Contract: Limits, Relay gas price, is its cap. */
    fees: FeePolicy;
    /** A permit must stay valid for at least this long, so that it still holds when a block includes it. */
    permitMarginMs: number;
    /** What a payer may spend for gas on a day, unless a brand has set it. */
    budgetGwei: number;
    /** The part of that which one user may spend, above 0 and up to 1. */
    userShare: number;
    /** Real time that a caller waits for the block. */
    answerTimeoutMs: number;
    /** Calls that are looked up in the ledger together. */
    batchMax: number;
  };
}

/** A request whose fields are well-formed; addresses in lower case. */
export interface RelayRequest {
  to: Hex;
  data: Hex;
  valueWei: bigint;
  gasLimit?: number | undefined;
  userAddress: Hex;
  permit?: Permit | undefined;
  /** Accounts that the bearer of the token has. */
  wallets: Hex[];
  /** Of the token; present when its issuer has verified it. */
  email?: string | undefined;
  /** Host of the page that asks. */
  originHost?: string | undefined;
}

/** `allowed` are the contracts that may be called. */
type RelayRefusal =
  | { code: 'contract_not_whitelisted'; contract: Hex; allowed: Hex[] }
  | { code: 'validation_failed'; contract: Hex; allowed: Hex[]; problem: ValidationProblem }
  | { code: 'rate_limit_exceeded'; scope: 'user' | 'address'; window: RateWindow }
  | { code: 'gas_budget_exceeded'; of: 'payer' | 'user'; resetAtMs: number }
  | { code: 'relay_unavailable' }
  | { code: 'transaction_failed'; relay: RelayProgress }
  | { code: 'confirmation_timeout'; hash: Hex | null };

/** What the decision about a call rested on, as far as it got. */
interface RelayGrounds {
  contract?: ContractName | undefined;
  /** Its whole signature. */
  function?: string | undefined;
  payer?: GasPayer;
  gas?: number;
}

/** `window` is the user's; absent when the call was refused before it was read. What `grounds` lack was not looked at. */
export type RelayOutcome = { window?: RateWindow | undefined; grounds?: RelayGrounds } & (
  | { relayed: RelayProgress }
  | { refusal: RelayRefusal }
);

/**
 * A refusal is a value and has cost the user nothing, unless it says that the call was sent. `effect` is given for a
 * request with an idempotency key: the id that its call has, and whether an earlier try may have queued it.
 */
export function createRelayTransaction(deps: RelayTransactionDeps) {
  const { database, contracts, settings } = deps;
  const readPermit = createPermitReader({ rpc: deps.rpc, token: contracts.token });
  const readL1Fee = createL1FeeReader(deps);
  const readSeller = createSellerReader({ rpc: deps.rpc, perks: contracts.perks });
  const blockAt = createTickDedupe((which: 'latest') => deps.chain.block(which));
  const lookUpPayer = createPayerLookUp({ db: database.db, batchMax: settings.batchMax });
  const { submit: windowOf } = createBatcher<Hex, RateWindow & { nowMs: number }>({
    maxItems: settings.batchMax,
    async run(users) {
      const windows = await readWindows(database.db, { ...settings.userLimit, now: deps.businessTime() }, [
        ...new Set(users),
      ]);
      return users.map((user) => windows.get(user) as RateWindow & { nowMs: number });
    },
  });

  return async function relayTransaction(request: RelayRequest, effect?: Effect): Promise<RelayOutcome> {
    const contract = contractNamed(contracts, request.to);
    const call = contract && { contract, ...readCall(contract, request.data) };
    const grounds: RelayGrounds = { contract, function: call?.signature };
    return { grounds, ...(await decide({ ...request, call }, grounds, effect)) };
  };

  async function decide(
    request: ReadRequest,
    grounds: RelayGrounds,
    effect: Effect | undefined,
  ): Promise<RelayOutcome> {
    const { to, userAddress } = request;
    const earlier = effect?.mayExist ? (await readRelays(database.db, [effect.id]))[0] : undefined;
    if (earlier) return { window: await windowOf(userAddress), ...(await settled(deps, earlier)) };
    const refusal = refuseRequest(deps, request);
    if (refusal) return { refusal };
    const { nowMs, ...window } = await windowOf(userAddress);
    if (window.remaining === 0)
      return { window, refusal: { code: 'rate_limit_exceeded', scope: 'user', window } };
    const prepared = await prepare(
      { ...deps, readPermit, readL1Fee, readSeller, blockAt, lookUpPayer },
      request,
    ).catch((error: unknown) => {
      // The node gave no usable answer: nothing was sent, and the same request may pass in a moment.
      if (error instanceof RpcAnswerError || error instanceof RpcUnreachableError)
        return { refusal: { code: 'relay_unavailable' as const } };
      throw error;
    });
    if ('refusal' in prepared) return { window, ...prepared };

    const { wallet, payer, budgetGwei, trial, worstWei } = prepared;
    grounds.payer = payer;
    grounds.gas = trial.gas;
    const id = effect?.id ?? deps.random.uuid();
    const answer = await deps.queue({
      id,
      lane: wallet.address,
      payer,
      userAddress,
      recipient: to,
      data: request.data,
      valueWei: String(request.valueWei),
      gas: trial.gas,
      permit: trial.permit ?? null,
      // Rounded up, so that the reservation always covers the worst case.
      reservedGwei: Number(worstWei / GWEI) + 1,
      budgetDay: budgetDay(nowMs),
      budgetGwei,
      shareGwei: Math.floor(budgetGwei * settings.userShare),
      createdAt: nowMs,
    });
    if (answer.queued)
      return { window: answer.window, ...(await settled(deps, { id, lane: wallet.address })) };
    if (answer.reason === 'gas_budget')
      return { window, refusal: { code: 'gas_budget_exceeded', of: answer.of, resetAtMs: answer.resetAtMs } };
    const { window: full } = answer;
    return { window: full, refusal: { code: 'rate_limit_exceeded', scope: 'user', window: full } };
  }
}

const invalid = (
  { contracts }: Pick<RelayTransactionDeps, 'contracts'>,
  contract: Hex,
  problem: ValidationProblem,
): RelayRefusal => ({ code: 'validation_failed', contract, allowed: Object.values(contracts), problem });

/** A request, and what its data says; undefined where it goes to another contract than the service's own. */
type ReadRequest = RelayRequest & {
  call: (ReturnType<typeof readCall> & { contract: ContractName }) | undefined;
};

/** The refusals that need no question to the chain. */
function refuseRequest(deps: RelayTransactionDeps, request: ReadRequest): RelayRefusal | undefined {
  const { contracts, settings } = deps;
  const { to, userAddress, gasLimit, data, valueWei, call } = request;
  if (!call) return { code: 'contract_not_whitelisted', contract: to, allowed: Object.values(contracts) };
  if (!request.wallets.includes(userAddress)) return invalid(deps, to, { reason: 'not_your_wallet' });
  const { gasMax } = settings;
  if (gasLimit !== undefined && gasLimit > gasMax)
    return invalid(deps, to, { reason: 'gas_over_limit', gasLimit, gasMax });
  const gasMin = gasOfData(data);
  if (gasLimit !== undefined && gasLimit < gasMin)
    return invalid(deps, to, { reason: 'gas_below_need', gasLimit, gasMin });
  const policy = refuseCall({ ...call, valueWei }, userAddress);
  return policy && invalid(deps, to, policy);
}

/** A call that is expected to succeed: who sends it and who pays, with which gas, and the most that it can cost. */
interface Prepared {
  wallet: GasWallet;
  payer: GasPayer;
  /** What the payer may spend on a day. */
  budgetGwei: number;
  trial: { gas: number; permit?: PermitCall };
  worstWei: bigint;
}

/** Looks at the newest state: what the call needs, or why it would fail. */
async function prepare(
  deps: RelayTransactionDeps &
    Pick<TryRelayDeps, 'readPermit'> & {
      readL1Fee: ReturnType<typeof createL1FeeReader>;
      readSeller: ReturnType<typeof createSellerReader>;
      blockAt: (which: 'latest') => Promise<Block | undefined>;
      lookUpPayer: ReturnType<typeof createPayerLookUp>;
    },
  request: ReadRequest,
): Promise<{ refusal: RelayRefusal } | Prepared> {
  const { database, settings } = deps;
  const { call = { contract: 'token', signature: undefined, args: [] } } = request;
  const perkId = perkBought(call);
  const [brandId, latest] = await Promise.all([
    findPayer({ db: database.db, readSeller: deps.readSeller }, { ...request, perkId }),
    deps.blockAt('latest'),
  ]);
  const { payer, wallet, gasBudget, perk } = await deps.lookUpPayer({ brandId, perkId });
  if (!wallet || !latest) return { refusal: { code: 'relay_unavailable' } };
  const fees = priceTransaction(latest.baseFeeWei, settings.fees);
  if (!fees) {
    const capWei = String(settings.fees.feeCapWei);
    return { refusal: invalid(deps, request.to, { reason: 'gas_price_over_limit', capWei }) };
  }
  const { userAddress, email } = request;
  const denied = perk && (await refusePurchase(deps, { perk, userAddress, email }));
  if (denied) return { refusal: invalid(deps, request.to, denied) };
  const { signature = '' } = call;
  const policy = { signature, gasMax: gasMaxOf(call.contract, signature) };
  const trial = await tryCall(deps, { ...request, from: wallet.address, policy });
  if ('reason' in trial) return { refusal: invalid(deps, request.to, trial) };
  const parts = [{ gas: trial.gas, data: request.data }, ...(trial.permit ? [trial.permit] : [])];
  const gas = BigInt(parts.reduce((sum, part) => sum + part.gas, 0));
  const l1Wei = (await Promise.all(parts.map(({ data }) => deps.readL1Fee(data)))).reduce(
    (a, b) => a + b,
    0n,
  );
  return {
    wallet,
    payer,
    trial,
    budgetGwei: gasBudget === undefined ? settings.budgetGwei : Math.floor(gasBudget * 1e9),
    worstWei: gas * fees.maxFeePerGas + (l1Wei * L1_MARGIN) / 100n,
  };
}

/** Waits for the block that holds a queued call. */
async function settled(
  deps: Pick<RelayTransactionDeps, 'relays' | 'settings'>,
  queued: { id: string; lane: Hex },
): Promise<{ relayed: RelayProgress } | { refusal: RelayRefusal }> {
  const { relays, settings } = deps;
  const waiting = relays.waitFor({ id: queued.id, timeoutMs: settings.answerTimeoutMs });
  relays.nudge(queued.lane);
  const relay = await waiting;
  if (!relay || !isIncluded(relay))
    return { refusal: { code: 'confirmation_timeout', hash: relay?.hash ?? null } };
  return relay.outcome === 'done' ? { relayed: relay } : { refusal: { code: 'transaction_failed', relay } };
}

// What keeps a user from buying a perk by a relayed call, beside the contract's own checks: the brand's constraints.

/** Undefined when the user may buy it. */
async function refusePurchase(
  deps: { checkConstraints: CheckConstraints },
  buying: {
    perk: StoredPerk;
    /** Lower case. */
    userAddress: `0x${string}`;
    /** Present when the token's issuer has verified it. */
    email?: string | undefined;
  },
): Promise<ValidationProblem | undefined> {
  const { brandId, tokenId, constraints } = buying.perk;
  if (constraints.length === 0) return undefined;
  const userKey = buying.email === undefined ? undefined : emailKey(buying.email);
  const buyer = { address: buying.userAddress, userKey };
  const missing = await deps.checkConstraints({ brandId, tokenId, constraints, buyer });
  return missing.length > 0 ? { reason: 'constraints_not_met', missing } : undefined;
}
