/** The files of a deployment: every transaction of one under way before it is sent, and the result, which `start` and the other commands read. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { ContractAddresses, DeploymentAccounts } from '../../chain/contracts/deployment-steps.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import type { Hex } from '../../lib/hex.ts';
import { problemOf } from '../start-errors.ts';

export interface ContractsFile extends ContractAddresses {
  chainId: number;
  /** The first block that can hold an event of these contracts. */
  deploymentBlock: number;
  /** Admin of all four contracts. */
  admin: `0x${string}`;
  deployer: `0x${string}`;
}

const ADDRESSES = ['token', 'escrow', 'perks', 'pointsSale', 'admin', 'deployer'] as const;
const NUMBERS = ['chainId', 'deploymentBlock'] as const;

/** Undefined when there is no such file; reports why a file that is there cannot be used. */
export async function readContractsFile(
  path: string,
  onProblem: (problem: string) => void,
): Promise<ContractsFile | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') onProblem(`${path} cannot be read (${code})`);
    return undefined;
  }
  const fields = asObject(text);
  const wrong = [
    ...ADDRESSES.filter((name) => !/^0x[0-9a-f]{40}$/i.test(String(fields[name]))),
    ...NUMBERS.filter((name) => !Number.isSafeInteger(fields[name]) || Number(fields[name]) < 0),
  ];
  if (wrong.length === 0) return fields as unknown as ContractsFile;
  onProblem(`${path} was not written by \`rewards contracts deploy\`: it lacks ${wrong.join(', ')}`);
  return undefined;
}

/** The file is there whole or not at all. */
export async function writeWhole(path: string, value: object): Promise<void> {
  await writeFile(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`, { flush: true });
  await rename(`${path}.new`, path);
}

function asObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** What decides the transactions of a deployment; amounts as text. */
export interface DeploymentWish {
  chainId: number;
  accounts: DeploymentAccounts;
  /** In RWT. */
  mintCap: string;
  /** In RWT an hour. */
  redemptionCap: string;
  perkUri: string;
  gasMoneyWei: string;
}

/** One offer of a step: under the same nonce there may be a dearer one later. */
export interface Offer {
  hash: Hex;
  maxFeePerGasWei: string;
  maxPriorityFeePerGasWei: string;
}

export interface DeploymentState extends DeploymentWish {
  genesisHash: Hex;
  /** The nonce of the first step; the others follow, so that no step can happen twice. */
  firstNonce: number;
  /** By step. */
  steps: { title: string; offers: Offer[] }[];
}

/** Beside the file that the deployment ends with. */
export const statePath = (contractsFile: string) => `${contractsFile}.deploying`;

/** Undefined when no deployment is under way. Throws E_DEPLOYMENT when it is not the wished one. */
export async function readState(path: string, wish: DeploymentWish): Promise<DeploymentState | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw cannotGoOn(`${path} cannot be read (${code})`, 'check its permissions');
  }
  const state = parsed(text);
  if (!state)
    throw cannotGoOn(`${path} is not the state of a deployment`, 'restore it; it says what was sent already');
  const differing = (Object.keys(wish) as (keyof DeploymentWish)[]).filter(
    (name) => JSON.stringify(state[name]) !== JSON.stringify(wish[name]),
  );
  if (differing.length === 0) return state;
  throw cannotGoOn(
    `${path} was begun with other settings: ${differing.map((name) => differs(name, state, wish)).join('; ')}`,
    'give the settings that it was begun with, or another --contracts-file for a deployment of its own',
  );
}

const differs = (name: keyof DeploymentWish, state: DeploymentState, wish: DeploymentWish) =>
  `${name} ${JSON.stringify(state[name])}, now ${JSON.stringify(wish[name])}`;

/** The file of a deployment under way: what was decided at its beginning, and every transaction before it is sent. */
export const writeState = (path: string, state: DeploymentState): Promise<void> => writeWhole(path, state);

/** Why a deployment cannot begin or go on. */
export const cannotGoOn = (message: string, fix: string) =>
  new PreconditionError(problemOf('E_DEPLOYMENT', { message, fix }));

function parsed(text: string): DeploymentState | undefined {
  try {
    const value = JSON.parse(text) as Partial<DeploymentState> | null;
    return Array.isArray(value?.steps) && Number.isInteger(value.firstNonce)
      ? (value as DeploymentState)
      : undefined;
  } catch {
    return undefined;
  }
}
