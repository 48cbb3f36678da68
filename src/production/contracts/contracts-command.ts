/** What the contracts commands work with: nodes, contracts, accounts and the change of a role, from flags, variables and files. */
import { resolve } from 'node:path';
import type { ContractAddresses } from '../../chain/contracts/deployment-steps.ts';
import { grantableRoles, roleCall, roleNamed, roleState } from '../../chain/contracts/roles.ts';
import { localKeySigner } from '../../chain/lane/local-key.ts';
import type { Signer } from '../../chain/lane/types.ts';
import { createChainClient } from '../../chain/rpc/client.ts';
import { createRpc, type Rpc } from '../../chain/rpc/rpc.ts';
import { createRpcPool } from '../../chain/rpc/rpc-pool.ts';
import { settings } from '../../compose/config.ts';
import type { Environment } from '../../compose/env.ts';
import { PERK_TOKEN_URI } from '../../contract/services/perks.ts';
import { systemClock } from '../../lib/clock.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import type { Hex } from '../../lib/hex.ts';
import { silentLog } from '../../lib/log.ts';
import { delay } from '../../lib/timers.ts';
import { isOpenToAll, notSet, readSecret, type Secret, settingsProblem } from '../secrets.ts';
import { deployerKey, startSettings } from '../settings.ts';
import { fillFromContractsFile } from '../start-config.ts';
import { problemOf } from '../start-errors.ts';
import { type Fault, fault } from '../start-setting.ts';
import type { DeployDeps } from './deploy-contracts.ts';
import type { DeploymentWish } from './deployment-files.ts';
import type { SendingAccounts } from './needs.ts';

export interface ContractsOptions {
  chainId?: number;
  contractsFile?: string;
  tokenAddress?: Hex;
  escrowAddress?: Hex;
  perksAddress?: Hex;
  pointsSaleAddress?: Hex;
  payoutAccount?: Hex;
  mintAccount?: Hex;
  redemptionAccount?: Hex;
  relayAccount?: Hex;
  payoutKeyFile?: string;
  mintKeyFile?: string;
  redemptionKeyFile?: string;
  relayKeyFile?: string;
}

export interface DeployOptions extends ContractsOptions {
  deployerKeyFile?: string;
  admin?: Hex;
  perkAdmin?: Hex;
  mintCap: string;
  redemptionCap: string;
  perkUri?: string;
  /** Without a slash at its end. */
  servicesUrl?: string;
  /** In the chain's currency. */
  gasMoney: number;
}

interface Surroundings {
  cwd: string;
  env: Environment;
  nodes: Secret;
}

/** Throws E_SETTINGS when an address of a node is missing. */
export async function openNodes(
  { cwd, nodes }: Pick<Surroundings, 'cwd' | 'nodes'>,
  chainId: number,
): Promise<DeployDeps> {
  const urls = await readSecret(startSettings.rpcUrls, { cwd, secret: nodes });
  if (urls === undefined) throw settingsProblem([notSet(startSettings.rpcUrls)]);
  const rpc = createRpcPool({
    nodes: urls.map((url) => createRpc({ url, ...settings.rpc })),
    chainId,
    log: silentLog,
    nowMs: systemClock().now,
    restMs: 0,
  });
  return { rpc, chain: createChainClient(rpc), sleep: (ms) => delay(ms) };
}

/** Where the contracts are, and of which chain; throws E_SETTINGS with everything that is not said. */
export async function whichContracts(
  options: ContractsOptions,
  cwd: string,
): Promise<{ chainId: number; contracts: ContractAddresses }> {
  const values = { ...options, deploymentBlock: undefined };
  const faults: Fault[] = [];
  await fillFromContractsFile(values as Parameters<typeof fillFromContractsFile>[0], cwd, (one) =>
    faults.push(one),
  );
  const { chainId, tokenAddress, escrowAddress, perksAddress, pointsSaleAddress } = values;
  if (chainId && tokenAddress && escrowAddress && perksAddress && pointsSaleAddress && faults.length === 0)
    return {
      chainId,
      contracts: {
        token: tokenAddress,
        escrow: escrowAddress,
        perks: perksAddress,
        pointsSale: pointsSaleAddress,
      },
    };
  throw settingsProblem(
    faults.length > 0 ? faults : [notSet(startSettings.contractsFile, ', nor chain id and four addresses')],
  );
}

/** The sending accounts: by their addresses, else by their keys where those are given. */
export async function sendingAccounts(
  options: ContractsOptions,
  { cwd, env }: Pick<Surroundings, 'cwd' | 'env'>,
): Promise<SendingAccounts> {
  const account = async (
    address: Hex | undefined,
    row: typeof startSettings.payoutKey,
    file: string | undefined,
  ) => {
    if (address) return address;
    const key = await readSecret(row, { cwd, secret: secretFrom(file, env[variableOf(row.flag)]) });
    return key && localKeySigner(key).address;
  };
  return {
    payout: await account(options.payoutAccount, startSettings.payoutKey, options.payoutKeyFile),
    mint: await account(options.mintAccount, startSettings.mintKey, options.mintKeyFile),
    redemption: await account(
      options.redemptionAccount,
      startSettings.redemptionKey,
      options.redemptionKeyFile,
    ),
    relay: await account(options.relayAccount, startSettings.relayKey, options.relayKeyFile),
  };
}

const secretFrom = (file: string | undefined, value: string | undefined): Secret =>
  file === undefined ? { value } : { files: [file] };

const variableOf = (flag: string) =>
  `REWARDS_${(/--([a-z-]+)-file/.exec(flag)?.[1] ?? '').toUpperCase().replaceAll('-', '_')}`;

/** The key that signs a deployment, and what it is to do. */
export async function deploymentWish(
  options: DeployOptions,
  { cwd, env }: Surroundings,
): Promise<{ wish: DeploymentWish; signer: Signer; contractsFile: string }> {
  const { deployerKeyFile, chainId, contractsFile } = options;
  const key = await readSecret(deployerKey, {
    cwd,
    secret: secretFrom(deployerKeyFile, env.REWARDS_DEPLOYER_KEY),
  });
  const accounts = await sendingAccounts(options, { cwd, env });
  const missing = [
    ...(key ? [] : [notSet(deployerKey)]),
    ...(accounts.payout ? [] : [notSet(startSettings.payoutKey, ', nor --payout-account')]),
    ...(chainId ? [] : [notSet(startSettings.chainId)]),
    ...(contractsFile ? [] : [notSet(startSettings.contractsFile)]),
  ];
  if (!key || !accounts.payout || !chainId || !contractsFile) throw settingsProblem(missing);
  if (deployerKeyFile && (await isOpenToAll(resolve(cwd, deployerKeyFile))))
    throw new PreconditionError(problemOf('E_PROD_KEY_FILE'));
  const signer = localKeySigner(key);
  const admin = options.admin ?? signer.address;
  return {
    signer,
    contractsFile: resolve(cwd, contractsFile),
    wish: {
      chainId,
      accounts: {
        deployer: signer.address,
        admin,
        distributor: accounts.payout,
        ...(accounts.mint && { operator: accounts.mint }),
        ...(accounts.redemption && { redeemer: accounts.redemption }),
        perkAdmin: options.perkAdmin ?? accounts.redemption ?? admin,
        relayers: accounts.relay ? [accounts.relay] : [],
      },
      mintCap: options.mintCap,
      redemptionCap: options.redemptionCap,
      perkUri: options.perkUri ?? (options.servicesUrl ? `${options.servicesUrl}${PERK_TOKEN_URI}` : ''),
      gasMoneyWei: String(BigInt(Math.round(options.gasMoney * 1e9)) * 1_000_000_000n),
    },
  };
}

/** The signer of a key file. Throws E_SETTINGS without a key, E_PROD_KEY_FILE when others can read it. */
export async function signerOf(file: string, cwd: string): Promise<Signer> {
  const key = await readSecret(deployerKey, { cwd, secret: { files: [file] } });
  if (!key)
    throw settingsProblem([fault(`${file} has no private key`, 'give a file with 64 hexadecimal digits')]);
  if (await isOpenToAll(resolve(cwd, file))) throw new PreconditionError(problemOf('E_PROD_KEY_FILE'));
  return localKeySigner(key);
}

interface RoleChange {
  contract: keyof ContractAddresses;
  role: string;
  call: { to: Hex; data: Hex };
  /** Whether the account has the role now, and whether the one that signs may change that. */
  state: (rpc: Rpc, admin: Hex) => Promise<{ has: boolean; mayChange: boolean }>;
}

/** The roles themselves where the words name none, or one of several contracts. */
export function roleChange(
  verb: 'grant' | 'revoke',
  of: { words: string; account: Hex; contracts: ContractAddresses },
): RoleChange | { roles: string[] } {
  const named = roleNamed(of.words);
  if (!named) return { roles: grantableRoles() };
  const { contract, role } = named;
  const { account, contracts } = of;
  const call = roleCall(verb, { contracts, contract, role, account });
  return {
    contract,
    role,
    call,
    state: (rpc, admin) => roleState(rpc, { contract: call.to, role, account, admin }),
  };
}
