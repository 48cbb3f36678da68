/** What the contract tests share: an Anvil with the contracts deployed, typed handles on them, and small helpers. */
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  decodeErrorResult,
  getContract,
  type Hex,
  http,
  keccak256,
  type PrivateKeyAccount,
  toHex,
} from 'viem';
import { type HDAccount, hdKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { expect } from 'vitest';
import {
  businessEscrowAbi,
  contractErrorsAbi,
  perkNFTAbi,
  pointsSaleAbi,
  rewardTokenAbi,
} from '../../src/chain/contracts/abis.ts';
import { roleId } from '../../src/chain/contracts/deployment-steps.ts';
import { encodePayoutBatch, type PayoutEntry } from '../../src/chain/contracts/payout-batch.ts';
import { delay } from '../../src/lib/timers.ts';
import { deploy, fundEscrow, minedBy, rpcTo, startAnvil } from '../kits/chain/chain.ts';
import { tokenDomain as domainOf, signPermit } from '../kits/chain/wallet.ts';

const MNEMONIC = 'test test test test test test test test test test test junk';

export type Kit = Awaited<ReturnType<typeof startKit>>;

// Turning a phrase into its seed is slow on purpose, so it is done once for all accounts.
const root = HDKey.fromMasterSeed(mnemonicToSeedSync(MNEMONIC));

/** An account of Anvil's own mnemonic. */
export function account(index: number): HDAccount {
  return hdKeyToAccount(root, { addressIndex: index });
}

export const people = {
  admin: account(0),
  distributor: account(1),
  operator: account(2),
  relayer: account(3),
  redeemer: account(4),
  alice: account(5),
  bob: account(6),
  stranger: account(7),
  otherBrand: account(8),
  brand: account(9),
};

/** Starts Anvil and deploys; `reset` brings the chain back to just after that. */
export async function startKit(anvilArgs: readonly string[] = []) {
  const anvil = await startAnvil(anvilArgs);
  const transport = http(anvil.url);
  const publicClient = createPublicClient({ chain: foundry, transport, pollingInterval: 20 });
  const wallet = createWalletClient({ chain: foundry, transport });
  const rpc = rpcTo(anvil.url);
  const deps = { rpc, sleep: delay };
  const deployment = await deploy(rpc, {
    admin: people.admin,
    distributor: people.distributor.address,
    operator: people.operator.address,
    redeemer: people.redeemer.address,
    relayer: people.relayer.address,
  });
  const client = { public: publicClient, wallet };
  const token = getContract({ address: deployment.token, abi: rewardTokenAbi, client });
  const escrow = getContract({ address: deployment.escrow, abi: businessEscrowAbi, client });
  const perks = getContract({ address: deployment.perks, abi: perkNFTAbi, client });
  const pointsSale = getContract({ address: deployment.pointsSale, abi: pointsSaleAbi, client });
  let snapshot = (await rpc('evm_snapshot', [])) as Hex;

  const mined = async (hash: Promise<Hex>) => minedBy(publicClient, await hash);
  const by = (from: HDAccount, gas?: bigint) => ({ account: from, gas });
  let keys = 0;

  return {
    anvil,
    deps,
    rpc,
    deployment,
    publicClient,
    wallet,
    token,
    escrow,
    perks,
    pointsSale,
    mined,
    by,
    async reset() {
      await rpc('evm_revert', [snapshot]);
      snapshot = (await rpc('evm_snapshot', [])) as Hex;
    },
    /** Lets an account collect past PerkNFT, which alone has that role after a deployment. */
    letCollect: (collector: HDAccount) =>
      mined(escrow.write.grantRole([roleId('REDEMPTION_ROLE'), collector.address], by(people.admin))),
    /** Mints RWT out of nowhere, as a paid checkout would. */
    async give(to: Hex, amount: bigint) {
      const key = keccak256(toHex(`give ${keys++}`));
      await mined(pointsSale.write.mintForPayment([key, to, amount], by(people.operator)));
    },
    fund: (brand: Hex, amount: bigint) =>
      fundEscrow({ wallet, client: publicClient, pointsSale: pointsSale.address }, people.operator, {
        brand,
        amount,
      }),
    /** The same amount for each of many; only the last block is waited for. */
    async fundAll(brands: readonly Hex[], amount: bigint) {
      const { address } = people.operator;
      let nonce = await publicClient.getTransactionCount({ address });
      const fees = await publicClient.estimateFeesPerGas();
      let last: Hex | undefined;
      for (const brand of brands) {
        const args = [keccak256(toHex(`fund ${keys++}`)), brand, amount] as const;
        const wish = { ...by(people.operator, 300_000n), ...fees, nonce: nonce++ };
        last = await pointsSale.write.mintIntoEscrow(args, wish);
      }
      if (last) await mined(Promise.resolve(last));
    },
    /** Sends a batch as the distributor. */
    distribute(entries: readonly PayoutEntry[], gas?: bigint) {
      const data = encodePayoutBatch(entries);
      return mined(wallet.sendTransaction({ to: escrow.address, data, gas, account: people.distributor }));
    },
    /** A signed EIP-2612 permit with the owner's next nonce. */
    async permit(owner: HDAccount, spender: Hex, value: bigint, deadline = 2n ** 64n) {
      const { v, r, s } = await signPermit(owner as unknown as PrivateKeyAccount, {
        domain: tokenDomain(token.address),
        owner: owner.address,
        spender,
        value,
        nonce: await token.read.nonces([owner.address]),
        deadline,
      });
      return [deadline, v, r, s] as const;
    },
  };
}

/** The EIP-712 domain of the reward token. */
export const tokenDomain = (verifyingContract: Hex) => domainOf(verifyingContract, foundry.id);

/** A fresh address that nobody has used, the same for the same number. */
export function newHolder(index: number): Hex {
  return `0x${keccak256(toHex(`holder ${index}`)).slice(26)}`;
}

/** Expects a contract call to revert with a custom error of any of our contracts, and gives its arguments. */
export async function expectRevert(call: Promise<unknown>, errorName: string): Promise<readonly unknown[]> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof BaseError)) throw new Error(`expected ${errorName}, got ${thrown}`);
  const reverted = thrown.walk((error) => error instanceof ContractFunctionRevertedError);
  if (!(reverted instanceof ContractFunctionRevertedError) || reverted.raw === undefined) throw thrown;
  const decoded = decodeErrorResult({ abi: contractErrorsAbi, data: reverted.raw });
  expect(decoded.errorName).toBe(errorName);
  return decoded.args ?? [];
}
