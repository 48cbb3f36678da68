/** `rewards keys new`, `contracts deploy` and `contracts show`, on a bare node, up to a start's own checks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeFunctionResult, encodeFunctionData, parseEther, toHex } from 'viem';
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { perkNFTAbi } from '../../src/chain/contracts/abis.ts';
import { roleCalls } from '../../src/chain/contracts/deployment-steps.ts';
import { hasRole } from '../../src/chain/contracts/roles.ts';
import { keyTree } from '../../src/chain/lane/local-key.ts';
import type { Rpc } from '../../src/chain/rpc/rpc.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { type AnvilProcess, rpcTo, startAnvil } from '../kits/chain/chain.ts';
import { program, rewards, rewardsJson, temporaryDirectory } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';

// Some start processes of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const CHAIN_ID = 4243;
let anvil: AnvilProcess;
let rpc: Rpc;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  [anvil, project] = await Promise.all([startAnvil(['--chain-id', String(CHAIN_ID)]), temporaryDirectory()]);
  rpc = rpcTo(anvil.url);
});
afterAll(() => Promise.all([anvil.stop(), project.remove()]));

/** New keys in a folder of their own, the deployer with money, and the variables of the page. */
async function prepared(name: string) {
  const made = await rewardsJson(['keys', 'new', '--to', name], { cwd: project.path });
  const folder = join(project.path, name);
  const addressOf: Record<string, `0x${string}`> = Object.fromEntries(
    made.envelope.data.accounts.map((one: { name: string; address: string }) => [one.name, one.address]),
  );
  await rpc('anvil_setBalance', [addressOf.deployer, toHex(parseEther('10'))]);
  const env = {
    REWARDS_RPC_URL: anvil.url,
    REWARDS_CHAIN_ID: String(CHAIN_ID),
    REWARDS_CONTRACTS_FILE: join(folder, 'contracts.json'),
    REWARDS_DEPLOYER_KEY_FILE: join(folder, 'deployer-key'),
    REWARDS_PAYOUT_KEY_FILE: join(folder, 'payout-key'),
    REWARDS_MINT_KEY_FILE: join(folder, 'mint-key'),
    REWARDS_REDEMPTION_KEY_FILE: join(folder, 'redemption-key'),
    REWARDS_RELAY_KEY_FILE: join(folder, 'relay-key'),
  };
  return { made, folder, addressOf, env };
}

const sentBy = async (account: string | undefined) =>
  Number(await rpc('eth_getTransactionCount', [account, 'latest']));

test('keys: each in a file of mode 0600, the phrase printed once, nothing overwritten', async () => {
  const { made, folder, addressOf } = await prepared('keys');
  const { mnemonic, walletsXpub, walletsPath, firstWallet } = made.envelope.data;
  for (const name of ['deployer', 'payout', 'mint', 'redemption', 'relay']) {
    const file = join(folder, `${name}-key`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const key = (await readFile(file, 'utf8')).trim() as `0x${string}`;
    expect(privateKeyToAccount(key).address).toBe(addressOf[name]);
  }
  const tree = keyTree(mnemonic);
  expect(tree.extendedPublicKeyAt(walletsPath)).toBe(walletsXpub);
  expect((await readFile(join(folder, 'wallets-xpub'), 'utf8')).trim()).toBe(walletsXpub);
  expect(tree.signerAt(`${walletsPath}/0`).address).toBe(firstWallet);
  expect(mnemonicToAccount(mnemonic, { path: `${walletsPath as "m/44'/60'/0'"}/0` }).address).toBe(
    firstWallet,
  );
  expect(made.stderr).not.toContain(mnemonic.split(' ').slice(0, 3).join(' '));

  const before = await readFile(join(folder, 'payout-key'), 'utf8');
  const again = await rewardsJson(['keys', 'new', '--to', 'keys'], { cwd: project.path });
  expect([again.code, again.envelope.error.code]).toEqual([5, 'E_KEYS_EXIST']);
  expect(await readFile(join(folder, 'payout-key'), 'utf8')).toBe(before);
});

test('a plan prints every transaction and sends none; what it says is what happens', async () => {
  const { env, addressOf } = await prepared('plan');
  const { envelope } = await rewardsJson(['contracts', 'deploy', '--plan', '--gas-money', '0.5'], { env });
  const { steps, contracts } = envelope.data;
  expect(await sentBy(addressOf.deployer)).toBe(0);
  const titles = steps.map(({ title }: { title: string }) => title);
  expect(titles[0]).toBe(`new RewardToken(${addressOf.deployer})`);
  expect(titles).toContain(`token.grantRole(MINTER_ROLE, ${contracts.pointsSale})`);
  expect(titles).toContain(`escrow.grantRole(DISTRIBUTOR_ROLE, ${addressOf.payout})`);
  expect(titles).toContain(`token.setMinterCap(${contracts.pointsSale}, 1000000000000000)`);
  expect(titles).toContain('token.setCollectCap(1000000)');

  const applied = await rewardsJson(['contracts', 'deploy', '--apply', '--gas-money', '0.5'], { env });
  expect(applied.envelope.data).toMatchObject({
    sent: steps.length,
    contracts: { ...contracts, chainId: CHAIN_ID },
  });
  expect(await sentBy(addressOf.deployer)).toBe(steps.length);
  expect(await rpc('eth_getBalance', [addressOf.payout, 'latest'])).toBe(toHex(parseEther('0.5')));
  expect(applied.stderr).toContain(titles.at(-1));

  const again = await rewardsJson(['contracts', 'deploy', '--apply'], { env });
  expect([again.code, again.envelope.data.sent]).toEqual([0, 0]);
  expect(await sentBy(addressOf.deployer)).toBe(steps.length);
});

test('the contract of perks leads to their metadata at the services host, where that is named', async () => {
  const { env } = await prepared('metadata');
  const deploy = (...more: string[]) => rewardsJson(['contracts', 'deploy', '--apply', ...more], { env });
  const bad = await deploy('--services-url', 'services.shop.example');
  expect([bad.code, bad.envelope.error.message]).toEqual([2, expect.stringContaining('web address')]);
  const { envelope } = await deploy('--services-url', 'https://services.shop.example/');
  const { data } = encodedUri(2n);
  const said = (await rpc('eth_call', [
    { to: envelope.data.contracts.perks, data },
    'latest',
  ])) as `0x${string}`;
  expect(decodeFunctionResult({ abi: perkNFTAbi, functionName: 'uri', data: said })).toBe(
    'https://services.shop.example/perks/metadata/{id}.json',
  );
});

const encodedUri = (token: bigint) => ({
  data: encodeFunctionData({ abi: perkNFTAbi, functionName: 'uri', args: [token] }),
});

test('neither plan nor apply, no money, a foreign transaction: nothing is sent', async () => {
  const { env, addressOf } = await prepared('refused');
  expect((await rewards(['contracts', 'deploy'], { env })).code).toBe(2);
  await rpc('anvil_setBalance', [addressOf.deployer, '0x1']);
  const poor = await rewardsJson(['contracts', 'deploy', '--apply'], { env });
  expect([poor.code, poor.envelope.error.code]).toEqual([5, 'E_DEPLOYMENT']);
  expect(poor.envelope.error.message).toContain('may take');
  const open = join(project.path, 'refused', 'deployer-key');
  await chmod(open, 0o644);
  const readable = await rewardsJson(['contracts', 'deploy', '--plan'], { env });
  expect([readable.code, readable.envelope.error.code]).toEqual([5, 'E_PROD_KEY_FILE']);
  expect(await sentBy(addressOf.deployer)).toBe(0);
});

test('a deployment that is killed goes on with the same command; nothing is deployed twice', async () => {
  const { env, addressOf, folder } = await prepared('broken');
  const admin = addressOf.mint ?? '0x';
  const args = ['contracts', 'deploy', '--apply', '--admin', admin];
  await rpc('evm_setAutomine', [false]);
  const child = spawn(process.execPath, [program, ...args], { cwd: '/', env: { ...process.env, ...env } });
  await until('the first transaction to wait', async () => {
    const count = await rpc('eth_getTransactionCount', [addressOf.deployer, 'pending']);
    return Number(count) === 1;
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  await rpc('evm_mine', []);
  await rpc('evm_setAutomine', [true]);

  const other = await rewardsJson(['contracts', 'deploy', '--apply'], { env });
  expect(other.envelope.error.message).toContain('begun with other settings: accounts');
  const { envelope, code } = await rewardsJson(args, { env });
  expect([code, envelope.ok]).toEqual([0, true]);
  expect(await sentBy(addressOf.deployer)).toBe(envelope.data.sent);
  await expect(stat(join(folder, 'contracts.json.deploying'))).rejects.toThrow('ENOENT');

  // The deployer has handed over: it has no role any more.
  const shown = await rewardsJson(['contracts', 'show'], { env });
  expect([shown.code, shown.envelope.data.ok]).toEqual([0, true]);
  const { token } = envelope.data.contracts;
  for (const [account, has] of [
    [addressOf.deployer, false],
    [addressOf.mint, true],
  ] as const)
    expect(await hasRole(rpc, { contract: token, role: '', account: account ?? '0x' })).toBe(has);
});

test('show names what is missing; start takes the file, and refuses a setting beside it that differs', async () => {
  const { env, folder, made } = await prepared('show');
  const terms = ['--gas-money', '1', '--redemption-cap', '777'];
  const deployed = await rewardsJson(['contracts', 'deploy', '--apply', ...terms], { env });
  const capped = await rewards(['contracts', 'show'], { env });
  expect(capped.stdout).toContain(
    "the escrow may collect 777 RWT an hour for perks without the holders' allowance (777 are left)",
  );
  // Without a cap nothing can be redeemed, and the call that an admin has to make is said.
  const { token } = deployed.envelope.data.contracts;
  const nothing = roleCalls('token', token).setCollectCap(0n).data;
  const setCap = (data: string) =>
    rewardsJson(['contracts', 'send', token, data, '--key-file', join(folder, 'deployer-key')], { env });
  expect((await setCap(nothing)).code).toBe(0);
  const uncapped = await rewardsJson(['contracts', 'show'], { env });
  expect([uncapped.code, uncapped.envelope.error.message]).toEqual([
    1,
    `the token contract ${token} lets nothing be collected for perks without a permit: its collect cap is 0`,
  ]);
  expect((await setCap(roleCalls('token', token).setCollectCap(1_000_000n).data)).code).toBe(0);
  const stranger = `0x${'5e'.repeat(20)}`;
  const shown = await rewardsJson(['contracts', 'show', '--payout-account', stranger], { env });
  expect([shown.code, shown.envelope.error.code]).toEqual([1, 'E_PROBLEMS']);
  expect(shown.envelope.error.message).toBe(
    `the payout account ${stranger} lacks DISTRIBUTOR_ROLE on the escrow contract`,
  );

  const ledger = join(folder, 'ledger.sqlite');
  const database = openSqlite(ledger);
  await migrate(database);
  await database.close();
  const { REWARDS_CHAIN_ID: _inTheFile, ...others } = env as Record<string, string>;
  const start = {
    ...others,
    REWARDS_DATABASE_URL: `sqlite:${ledger}`,
    REWARDS_ALLOW_SQLITE: 'true',
    REWARDS_ALLOW_SINGLE_RPC: 'true',
    REWARDS_WALLETS_XPUB: made.envelope.data.walletsXpub,
    REWARDS_PUBLIC_HOST: 'rewards.example',
    REWARDS_TRUST_PROXY: '127.0.0.1',
  };
  const checked = await rewardsJson(['start', '--check'], { env: start });
  expect(checked.envelope).toMatchObject({ ok: true, data: { problems: [] } });
  const both = await rewardsJson(['start', '--check'], {
    env: { ...start, REWARDS_ESCROW_ADDRESS: stranger },
  });
  expect([both.code, both.envelope.error.code]).toEqual([2, 'E_SETTINGS']);
  expect(both.envelope.error.message).toMatch(
    /^REWARDS_ESCROW_ADDRESS is 0x5e.* says 0x.*give one of the two$/,
  );
  await writeFile(join(folder, 'torn.json'), '{"chainId": 1');
  const torn = await rewardsJson(['start', '--check'], {
    env: { ...start, REWARDS_CONTRACTS_FILE: join(folder, 'torn.json') },
  });
  expect(torn.envelope.error.message).toContain('was not written by `rewards contracts deploy`');
});
