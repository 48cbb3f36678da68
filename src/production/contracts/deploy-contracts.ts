/** `contracts deploy`: says every transaction before it, sends one after the other, and goes on where it was broken off. */
import { rm } from 'node:fs/promises';
import {
  type ContractAddresses,
  contractAddresses,
  type DeploymentStep,
  deploymentSteps,
  hashOfSigned,
} from '../../chain/contracts/deployment-steps.ts';
import type { Signer } from '../../chain/lane/types.ts';
import type { ChainClient } from '../../chain/rpc/client.ts';
import { type Rpc, RpcAnswerError } from '../../chain/rpc/rpc.ts';
import type { Hex } from '../../lib/hex.ts';
import {
  type ContractsFile,
  cannotGoOn,
  type DeploymentState,
  type DeploymentWish,
  type Offer,
  readState,
  statePath,
  writeState,
  writeWhole,
} from './deployment-files.ts';

export interface DeployDeps {
  rpc: Rpc;
  chain: ChainClient;
  /** Waits in real time between looks at the chain. */
  sleep: (ms: number) => Promise<void>;
}

export interface DeploymentPlan {
  steps: (DeploymentStep & { nonce: number })[];
  addresses: ContractAddresses;
  fees: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };
  /** All gas at the highest price, and the gas money that is given away. */
  costMaxWei: bigint;
  balanceWei: bigint;
  state: DeploymentState;
  /** Whether an earlier run began it. */
  isBegun: boolean;
}

const GWEI = 1_000_000_000n;
const POLL_MS = 250;
/** How long a transaction may wait for its block; the same command goes on later, with a better offer. */
const MINED_WITHIN_MS = 180_000;
/** How long a node may take to show the receipt of a nonce that it counts already. */
const SHOWN_WITHIN_MS = 30_000;
/** Nodes want at least a tenth more for a transaction that takes the place of another. */
const better = (wei: bigint) => wei + wei / 8n + 1n;

/** Reads what the deployment is going to do. Sends nothing and writes nothing. */
export async function planDeployment(
  { rpc, chain }: DeployDeps,
  wish: DeploymentWish,
  contractsFile: string,
): Promise<DeploymentPlan> {
  const { deployer } = wish.accounts;
  const [chainId, first, newest] = [await chain.chainId(), await chain.block(0), await chain.block('latest')];
  if (chainId !== wish.chainId || !first || !newest)
    throw cannotGoOn(`the node is of chain ${chainId}, not ${wish.chainId}`, 'check --chain-id and the node');
  const known = await readState(statePath(contractsFile), wish);
  if (known && known.genesisHash !== first.hash)
    throw cannotGoOn(
      'the deployment under way was begun on another chain of this id',
      'give another --contracts-file',
    );
  const firstNonce = known?.firstNonce ?? (await freeNonce({ rpc, chain }, deployer));
  const addresses = contractAddresses({ deployer, firstNonce });
  const steps = deploymentSteps(addresses, wish.accounts, {
    mintCap: BigInt(wish.mintCap),
    redemptionCap: BigInt(wish.redemptionCap),
    perkUri: wish.perkUri,
    gasMoneyWei: BigInt(wish.gasMoneyWei),
  }).map((step, place) => ({ ...step, nonce: firstNonce + place }));
  const maxFeePerGas = newest.baseFeeWei * 2n + GWEI;
  return {
    steps,
    addresses,
    fees: { maxFeePerGas, maxPriorityFeePerGas: GWEI },
    costMaxWei: steps.reduce((sum, { gas, value }) => sum + gas * maxFeePerGas + value, 0n),
    balanceWei: await chain.balanceWei(deployer),
    state: known ?? {
      ...wish,
      genesisHash: first.hash,
      firstNonce,
      steps: steps.map(({ title }) => ({ title, offers: [] })),
    },
    isBegun: known !== undefined,
  };
}

/** Transactions that are still under way would take the nonces that the contracts' addresses come from. */
async function freeNonce({ rpc, chain }: Pick<DeployDeps, 'rpc' | 'chain'>, deployer: Hex): Promise<number> {
  const mined = await chain.nonce(deployer);
  const pending = Number(await rpc('eth_getTransactionCount', [deployer, 'pending']));
  if (pending === mined) return mined;
  throw cannotGoOn(
    `the deployer ${deployer} has ${pending - mined} transactions under way`,
    'wait until they are in a block',
  );
}

/** Sends what is left of a plan, each transaction once its predecessor is in a block, and writes the contracts file. */
export async function applyDeployment(
  deps: DeployDeps & { signer: Signer },
  plan: DeploymentPlan,
  out: { contractsFile: string; onStep?: (done: number, title: string) => void },
): Promise<ContractsFile> {
  const path = statePath(out.contractsFile);
  if (!plan.isBegun) await writeState(path, plan.state);
  let deploymentBlock: number | undefined;
  for (const [place, step] of plan.steps.entries()) {
    out.onStep?.(place, step.title);
    const block = (await minedIn(deps, plan, place)) ?? (await send(deps, plan, { place, path }));
    deploymentBlock ??= block;
  }
  const { chainId, accounts } = plan.state;
  const done: ContractsFile = {
    chainId,
    ...plan.addresses,
    deploymentBlock: deploymentBlock ?? 0,
    admin: accounts.admin,
    deployer: accounts.deployer,
  };
  await writeWhole(out.contractsFile, done);
  await rm(path, { force: true });
  return done;
}

/** The block of a step that is done; undefined when it still has to be sent. */
async function minedIn(deps: DeployDeps, plan: DeploymentPlan, place: number): Promise<number | undefined> {
  const { offers = [] } = plan.state.steps[place] ?? {};
  for (const { hash } of offers) {
    const receipt = (await deps.rpc('eth_getTransactionReceipt', [hash])) as Receipt | null;
    if (!receipt) continue;
    if (receipt.status === '0x1') return Number(receipt.blockNumber);
    throw cannotGoOn(
      `step ${place + 1}, ${plan.steps[place]?.title}, was reverted (${hash})`,
      'look at the transaction; then deploy anew with another --contracts-file',
    );
  }
  return undefined;
}

interface Receipt {
  status: Hex;
  blockNumber: Hex;
}

async function send(
  deps: DeployDeps & { signer: Signer },
  plan: DeploymentPlan,
  { place, path }: { place: number; path: string },
): Promise<number> {
  const step = plan.steps[place];
  const record = plan.state.steps[place];
  if (!step || !record) throw new Error(`the plan has no step ${place}`);
  if ((await deps.chain.nonce(plan.state.accounts.deployer)) > step.nonce) {
    // One of our own offers may have been mined a moment ago.
    const block = await mined(deps, plan, {
      place,
      withinMs: record.offers.length > 0 ? SHOWN_WITHIN_MS : 0,
    });
    if (block !== undefined) return block;
    throw cannotGoOn(
      `another transaction of the deployer used nonce ${step.nonce}, which was meant for ${step.title}`,
      'deploy anew with another --contracts-file, and send nothing else with this key meanwhile',
    );
  }
  const { raw, offer } = await signedOffer(deps, plan, { step, before: record.offers.at(-1) });
  // Written down first: after a break, the same nonce and this hash tell whether it happened.
  if (!record.offers.some(({ hash }) => hash === offer.hash)) record.offers.push(offer);
  await writeState(path, plan.state);
  const outcome = await deps.chain.sendRaw(raw);
  if (outcome.kind === 'rejected')
    throw cannotGoOn(
      `the node refuses step ${place + 1}, ${step.title}: ${outcome.reason.replaceAll('_', ' ')}`,
      'send the deployer native currency, or wait for a lower price; then run the same command again',
    );
  const block = await mined(deps, plan, { place, withinMs: MINED_WITHIN_MS });
  if (block !== undefined) return block;
  throw cannotGoOn(
    `step ${place + 1}, ${step.title}, is in no block after ${MINED_WITHIN_MS / 1000} s`,
    'run the same command again: it offers more for the same transaction and goes on from there',
  );
}

async function mined(
  deps: DeployDeps,
  plan: DeploymentPlan,
  { place, withinMs }: { place: number; withinMs: number },
): Promise<number | undefined> {
  for (let waitedMs = 0; waitedMs <= withinMs; waitedMs += POLL_MS) {
    const block = await minedIn(deps, plan, place);
    if (block !== undefined) return block;
    await deps.sleep(POLL_MS);
  }
  return undefined;
}

/** The step signed for its nonce; better than the offer `before` it, so that nodes take it in its place. */
async function signedOffer(
  { rpc, chain, signer }: DeployDeps & { signer: Signer },
  plan: DeploymentPlan,
  { step, before }: { step: DeploymentPlan['steps'][number]; before: Offer | undefined },
): Promise<{ raw: Hex; offer: Offer }> {
  const newest = await chain.block('latest');
  const least = (wei: bigint, earlier: string | undefined) =>
    earlier === undefined || wei > better(BigInt(earlier)) ? wei : better(BigInt(earlier));
  const maxFeePerGas = least(
    (newest?.baseFeeWei ?? 0n) * 2n + plan.fees.maxPriorityFeePerGas,
    before?.maxFeePerGasWei,
  );
  const maxPriorityFeePerGas = least(plan.fees.maxPriorityFeePerGas, before?.maxPriorityFeePerGasWei);
  const { to, data, value, nonce } = step;
  const transaction: Parameters<Signer['signTransaction']>[0] = {
    type: 'eip1559',
    chainId: plan.state.chainId,
    nonce,
    ...(to && { to }),
    data,
    value,
    maxFeePerGas,
    maxPriorityFeePerGas,
    gas: await gasFor(rpc, plan, step),
  };
  const raw = await signer.signTransaction(transaction);
  return {
    raw,
    offer: {
      hash: hashOfSigned(raw),
      maxFeePerGasWei: String(maxFeePerGas),
      maxPriorityFeePerGasWei: String(maxPriorityFeePerGas),
    },
  };
}

/** What the node says with a fifth on top, since some chains count more than Ethereum; the step's own figure at least. */
async function gasFor(rpc: Rpc, plan: DeploymentPlan, step: DeploymentStep): Promise<bigint> {
  const { to, data, value, gas } = step;
  const call = {
    from: plan.state.accounts.deployer,
    ...(to && { to }),
    data,
    value: `0x${value.toString(16)}`,
  };
  try {
    const estimate = BigInt((await rpc('eth_estimateGas', [call])) as Hex);
    const withSpare = estimate + estimate / 5n;
    return withSpare > gas ? withSpare : gas;
  } catch (error) {
    if (!(error instanceof RpcAnswerError)) throw error;
    throw cannotGoOn(`${step.title} would fail: ${error.message}`, 'nothing was sent for this step');
  }
}
