/** What a batch of rewards costs on chain: gas and calldata by size of batch, beside a plain batch of ERC-20 transfers. */
import { encodeDeployData, encodeFunctionData, type Hex, keccak256, parseEther, toHex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { pointsSaleAbi } from '../../src/chain/contracts/abis.ts';
import { deployContracts } from '../../src/chain/contracts/deploy.ts';
import { encodePayoutBatch } from '../../src/chain/contracts/payout-batch.ts';
import { startAnvil } from '../../src/chain/development/anvil.ts';
import { localKeySigner } from '../../src/chain/lane/local-key.ts';
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts';
import { settings } from '../../src/compose/config.ts';
import { delay } from '../../src/lib/timers.ts';
// The yardstick of the contracts' own tests.
import plainBatch from '../../test/solidity/solidity/artifacts/PlainBatch.json' with { type: 'json' };

const BATCHES = [1, 10, 50, 200, 400];
const AMOUNT = 10n;
const LOTS = 1_000_000n;
const GAS_LIMIT = toHex(16_000_000n);
const brand = holder(0);
const plainBatchAbi = [
  {
    type: 'function',
    name: 'pay',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'token', type: 'address' },
      { name: 'to', type: 'address[]' },
      { name: 'amounts', type: 'uint256[]' },
    ],
    outputs: [],
  },
] as const;

/** One size of batch; gas and bytes are those of its whole transaction. */
export interface BatchCost {
  /** Rewards in the transaction. */
  batch: number;
  gas: number;
  calldataBytes: number;
  /** Gas of a plain contract that transfers the same token in a loop to as many new holders. */
  baselineGas: number;
}

/** Each batch is of one brand, to users who hold nothing yet, with the sequence numbers after those of the batch before. */
export async function measureGas(): Promise<BatchCost[]> {
  const anvil = await startAnvil({ bindAddress: '127.0.0.1', port: 0, blockTimeSeconds: 0 });
  try {
    const chain = await prepare(createRpc({ url: anvil.rpcUrl, ...settings.rpc }));
    let users = 0;
    const newHolders = (count: number) => Array.from({ length: count }, () => holder(++users));
    let sequence = 1n;
    const payout = (count: number) =>
      encodePayoutBatch(
        newHolders(count).map((to) => ({ sequence: sequence++, brandId: brand, to, amount: AMOUNT })),
      );
    // A first reward writes the balances that later ones only change.
    await chain.send(chain.escrow, payout(1));
    const costs: BatchCost[] = [];
    for (const batch of BATCHES) {
      const data = payout(batch);
      const args = [chain.token, newHolders(batch), Array.from({ length: batch }, () => AMOUNT)] as const;
      costs.push({
        batch,
        gas: (await chain.send(chain.escrow, data)).gas,
        calldataBytes: data.length / 2 - 1,
        baselineGas: (
          await chain.send(chain.plain, encodeFunctionData({ abi: plainBatchAbi, functionName: 'pay', args }))
        ).gas,
      });
    }
    return costs;
  } finally {
    await anvil.stop();
  }
}

/** Contracts on the chain, with tokens for the brand and for the plain batches, and one account that may do everything. */
async function prepare(rpc: Rpc) {
  const admin = localKeySigner(generatePrivateKey());
  await rpc('anvil_setBalance', [admin.address, toHex(parseEther('1000'))]);
  const { address } = admin;
  const { token, escrow, pointsSale } = await deployContracts(
    { rpc, sleep: delay },
    { admin, distributor: address, operator: address, redeemer: address, perkAdmin: address, relayers: [] },
  );
  await rpc('anvil_impersonateAccount', [address]);
  const send = async (to: Hex | undefined, data: Hex) => {
    const hash = await rpc('eth_sendTransaction', [{ from: address, to, data, gas: GAS_LIMIT }]);
    const receipt = await minedReceipt(rpc, hash as Hex);
    return { gas: Number(receipt.gasUsed), contract: receipt.contractAddress };
  };
  const { contract: plain } = await send(
    undefined,
    encodeDeployData({ abi: plainBatchAbi, bytecode: plainBatch.bytecode as Hex }),
  );
  if (!plain) throw new Error('the plain batch was not deployed');
  const mint = (functionName: 'mintIntoEscrow' | 'mintForPayment', to: Hex) =>
    send(
      pointsSale,
      encodeFunctionData({ abi: pointsSaleAbi, functionName, args: [keccak256(to), to, LOTS] }),
    );
  await mint('mintIntoEscrow', brand);
  await mint('mintForPayment', plain);
  return { token, escrow, plain, send };
}

interface Receipt {
  status: Hex;
  gasUsed: Hex;
  contractAddress: Hex | null;
}

async function minedReceipt(rpc: Rpc, hash: Hex): Promise<Receipt> {
  for (;;) {
    const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as Receipt | null;
    if (receipt && receipt.status !== '0x1') throw new Error(`${hash} was reverted`);
    if (receipt) return receipt;
    await delay(20);
  }
}

function holder(number: number): Hex {
  return `0x${keccak256(toHex(`holder ${number}`)).slice(26)}`;
}
