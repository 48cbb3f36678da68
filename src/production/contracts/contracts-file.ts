/** The file with a deployment's result: `contracts deploy` writes it, `start` and the other commands read it. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { ContractAddresses } from '../../chain/contracts/deployment-steps.ts';

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
