/** The file of a deployment under way: what was decided at its beginning, and every transaction before it is sent. */
import { readFile } from 'node:fs/promises';
import type { DeploymentAccounts } from '../../chain/contracts/deployment-steps.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import type { Hex } from '../../lib/hex.ts';
import { problemOf } from '../start-errors.ts';
import { writeWhole } from './contracts-file.ts';

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
