/** What calls cost their payer's budget: exactly what the chain took, from the block on, and again after a reorganisation. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Hex, keccak256, toHex } from 'viem';
import { afterEach, describe, expect, test } from 'vitest';
import { type AnvilProcess, SERVICE_CHAIN_ARGS, startAnvil } from '../../kits/chain/chain.ts';
import { PERK, PERK_PRICE, type RelayKit, startRelayKit } from '../../kits/chain/wallet.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { type LedgerReader, readLedger } from '../../reliability/processes/ledger-reader.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
}, 30_000);

const GWEI = 10n ** 9n;
const finalityBlocks = 4;
/** Of callers who wait in vain, since there are no blocks. */
const answerTimeoutMs = 500;
/** The machine may be busy with other tests. */
const patient = { timeout: 20_000 };
type Start = NonNullable<Parameters<typeof startRelayKit>[0]>;

/** In front of a node: receipts name a fee for data, and the oracle of the OP stack's chains names the same. */
async function startOpStackNode(target: string, l1FeeWei: bigint) {
  const answer = async (call: { id: unknown; method: string; params: [unknown] }) => {
    const [asked] = call.params as [string | { to?: string }];
    const to = typeof asked === 'string' ? asked : asked?.to;
    if (String(to).toLowerCase() === ORACLE) {
      const result = call.method === 'eth_getCode' ? '0x00' : toHex(l1FeeWei, { size: 32 });
      return { jsonrpc: '2.0', id: call.id, result };
    }
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(target, { method: 'POST', headers, body: JSON.stringify(call) });
    const told = (await response.json()) as { result: unknown };
    if (call.method === 'eth_getBlockReceipts' && Array.isArray(told.result))
      for (const receipt of told.result) receipt.l1Fee = toHex(l1FeeWei);
    return told;
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    response.setHeader('content-type', 'application/json');
    const asked = JSON.parse(text);
    const answers = Array.isArray(asked) ? Promise.all(asked.map(answer)) : answer(asked);
    response.end(JSON.stringify(await answers));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
const ORACLE = '0x420000000000000000000000000000000000000f';

describe.each(databaseKinds)('gas charges (on $kind)', ({ kind, open }) => {
  let kit: RelayKit;
  let ledger: LedgerReader;
  let anvil: AnvilProcess;
  const rpc = (method: string, ...params: unknown[]) => kit.chain.request({ method, params } as never);
  const start = async ({ engine, ...change }: Start = {}, nodeOf = async (url: string) => url) => {
    const database = await open();
    stops.push(database.stop);
    anvil = await startAnvil(SERVICE_CHAIN_ARGS);
    stops.push(anvil.stop);
    kit = await startRelayKit({
      databaseUrl: database.databaseUrl,
      rpcUrl: await nodeOf(anvil.url),
      engine: { follow: { finalityBlocks }, lane: { resendAfterMs: 300 }, ...engine },
      ...change,
    });
    stops.push(kit.stop);
    ledger = readLedger({ dataDir: kit.ready.dataDir, databaseUrl: database.databaseUrl });
    stops.push(ledger.close);
  };
  const spent = () => ledger.gas({ payer: kit.brand.brandId });
  const shareOf = (userAddress: string) => ledger.gas({ payer: kit.brand.brandId, userAddress });
  const buy = (user: 'alice' | 'bob', headers: Record<string, string> = {}) =>
    kit.relay(kit.users[user], kit.purchase(kit.users[user].address), headers);
  const weiOf = async (hash: Hex) => {
    const { gasUsed, effectiveGasPrice } = await kit.chain.getTransactionReceipt({ hash });
    return gasUsed * effectiveGasPrice;
  };
  const inGwei = (wei: bigint) => Number((wei + GWEI - 1n) / GWEI);
  /** Of the transaction with the nonce before it: the permit of a call. */
  const before = async (hash: Hex): Promise<Hex> => {
    const { from, nonce, blockNumber } = await kit.chain.getTransaction({ hash });
    for (let number = blockNumber ?? 0n; number > 0n; number--) {
      const { transactions } = await kit.chain.getBlock({ blockNumber: number, includeTransactions: true });
      const found = transactions.find((one) => one.from === from && one.nonce === nonce - 1);
      if (found) return found.hash;
    }
    throw new Error(`nothing came before ${hash}`);
  };
  const mine = async (blocks: number) => {
    for (let n = 0; n < blocks; n++) await rpc('evm_mine');
  };
  /** Waits until the follower has read the chain's head. */
  const followed = async () => {
    const { status, body } = await kit.event({
      userEmail: `${keccak256(await headHash()).slice(2, 12)}@people.example`,
    });
    expect(status, JSON.stringify(body)).toBe(200);
  };
  const headHash = async () => (await kit.chain.getBlock()).hash;

  test('as soon as a block holds a call, the payer and the user have spent what the block says, permit included', async () => {
    await start();
    const { alice } = kit.users;
    for (const eventType of ['account_creation', 'first_purchase', 'referral'])
      expect((await kit.event({ userEmail: alice.email, eventType })).status).toBe(200);
    const permit = await kit.permit(alice);
    const { status, body } = await kit.relay(alice, {
      ...kit.purchase(alice.address, PERK, PERK_PRICE),
      gasLimit: 500_000,
      permit,
    });
    expect(status).toBe(200);
    const cost = inGwei(
      (await weiOf(body.transactionHash)) + (await weiOf(await before(body.transactionHash))),
    );
    await expect.poll(spent, patient).toBe(cost);
    expect(await shareOf(alice.address)).toBe(cost);
    await mine(finalityBlocks + 1);
    await followed();
    expect(await spent()).toBe(cost);
  }, 60_000);

  test('a block that is taken back: the worst case again, and exactly the cost once another block holds the call', async () => {
    await start();
    const { body } = await buy('alice');
    const hash: Hex = body.transactionHash;
    const raw = await rpc('eth_getRawTransactionByHash', hash);
    const cost = inGwei(await weiOf(hash));
    await expect.poll(spent, patient).toBe(cost);
    await rpc('evm_setAutomine', false);
    await rpc('anvil_reorg', 1, []);
    await rpc('anvil_dropTransaction', hash);
    await mine(1);
    await expect.poll(spent).toBeGreaterThan(cost);
    expect(await shareOf(kit.users.alice.address)).toBe(await spent());
    await rpc('eth_sendRawTransaction', raw).catch(() => undefined);
    await rpc('evm_setAutomine', true);
    await mine(1);
    await expect
      .poll(
        async () => {
          const receipt = await kit.chain.getTransactionReceipt({ hash }).catch(() => undefined);
          return receipt && inGwei(receipt.gasUsed * receipt.effectiveGasPrice) === (await spent());
        },
        { timeout: 20_000 },
      )
      .toBe(true);
  }, 60_000);

  test('a call that reverted costs what it used, and the follower goes on when it is final', async () => {
    await start();
    const { alice, bob } = kit.users;
    await kit.setPerk(7n, 0n, 1n);
    await rpc('evm_setAutomine', false);
    const buying = [alice, bob].map((user) => kit.relay(user, kit.purchase(user.address, 7n)));
    await expect
      .poll(async () => Number(((await rpc('txpool_status')) as unknown as { pending: Hex }).pending))
      .toBe(2);
    await mine(1);
    await rpc('evm_setAutomine', true);
    const answers = await Promise.all(buying);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 500]);
    const hashes = answers.map(({ body }) => (body.transactionHash ?? body.details.transactionHash) as Hex);
    await mine(finalityBlocks + 1);
    await followed();
    let cost = 0;
    for (const hash of hashes) cost += inGwei(await weiOf(hash));
    expect(await spent()).toBe(cost);
  }, 60_000);

  test('of calls at once beyond the window, only those that were admitted are counted', async () => {
    await start({ relay: { userShare: 1 } });
    const answers = await Promise.all(Array.from({ length: 60 }, () => buy('alice')));
    const sent = answers.filter(({ status }) => status === 200);
    expect(sent).toHaveLength(35);
    let cost = 0;
    for (const { body } of sent) cost += inGwei(await weiOf(body.transactionHash));
    await expect.poll(spent, patient).toBe(cost);
    expect(await shareOf(kit.users.alice.address)).toBe(cost);
  }, 60_000);

  // What follows asks more of the chain than of the database.
  if (kind !== 'sqlite') return;

  test('while no block holds it, the worst case of call and permit is kept', async () => {
    await start({ relay: { answerTimeoutMs } });
    const { alice } = kit.users;
    for (const eventType of ['account_creation', 'first_purchase', 'referral'])
      expect((await kit.event({ userEmail: alice.email, eventType })).status).toBe(200);
    const permit = await kit.permit(alice);
    await rpc('evm_setAutomine', false);
    const call = { ...kit.purchase(alice.address, PERK, PERK_PRICE), permit };
    const { status, body } = await kit.relay(alice, call);
    expect(status).toBe(504);
    const hash: Hex = body.details.transactionHash;
    await expect.poll(() => kit.chain.getTransaction({ hash }).catch(() => undefined), patient).toBeTruthy();
    const { gas, maxFeePerGas = 0n, from, nonce } = await kit.chain.getTransaction({ hash });
    const pool = (await rpc('txpool_content')) as unknown as {
      pending: Record<Hex, Record<string, { gas: Hex }>>;
    };
    const sender = Object.entries(pool.pending).find(
      ([address]) => address.toLowerCase() === from.toLowerCase(),
    );
    const permitGas = BigInt(sender?.[1][String(nonce - 1)]?.gas ?? 0);
    expect(permitGas).toBeGreaterThan(0n);
    expect(Math.abs((await spent()) - Number(((gas + permitGas) * maxFeePerGas) / GWEI))).toBeLessThanOrEqual(
      1,
    );
  }, 60_000);

  test('a call whose nonce somebody else used costs nothing, once that is final', async () => {
    await start({ relay: { answerTimeoutMs }, engine: { lane: { resendAfterMs: 2_000 } } });
    await rpc('evm_setAutomine', false);
    const { status, body } = await buy('alice');
    expect(status).toBe(504);
    const hash: Hex = body.details.transactionHash;
    await expect.poll(() => kit.chain.getTransaction({ hash }).catch(() => undefined), patient).toBeTruthy();
    const { from } = await kit.chain.getTransaction({ hash });
    expect(await spent()).toBeGreaterThan(0);
    await rpc('anvil_impersonateAccount', from);
    await rpc('anvil_dropTransaction', hash);
    await rpc('eth_sendTransaction', { from, to: from, value: '0x0', maxFeePerGas: '0x2540be400' });
    await mine(1);
    await mine(finalityBlocks + 1);
    await expect.poll(spent, { timeout: 20_000 }).toBe(0);
    expect(await shareOf(kit.users.alice.address)).toBe(0);
  }, 60_000);

  test("on a chain of the OP stack the fee for data is part of a call's cost, and of what is kept for it", async () => {
    const l1FeeWei = 10n ** 15n;
    await start({ relay: { answerTimeoutMs: 3_000 } }, async (url) => {
      const node = await startOpStackNode(url, l1FeeWei);
      stops.push(node.stop);
      return node.url;
    });
    const { body } = await buy('alice');
    const hash: Hex = body.transactionHash;
    await expect.poll(spent, patient).toBe(inGwei((await weiOf(hash)) + l1FeeWei));
    const before = await spent();
    await rpc('evm_setAutomine', false);
    const late = await buy('alice');
    expect(late.status).toBe(504);
    // The oracle's word, and half as much again.
    expect((await spent()) - before).toBeGreaterThan(inGwei((l1FeeWei * 3n) / 2n));
  }, 60_000);
});
