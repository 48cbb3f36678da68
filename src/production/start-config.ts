/** Reads production's settings, checks their form, and returns them as values. */
import { resolve } from 'node:path';
import type { ContractAddresses } from '../chain/contracts/deployment-steps.ts';
import type { Environment } from '../compose/env.ts';
import { PreconditionError } from '../compose/precondition.ts';
import type { Log } from '../lib/log.ts';
import { namesOf, privateKey } from '../lib/setting.ts';
import { type ContractsFile, readContractsFile } from './contracts/contracts-file.ts';
import { isGiven, isOpenToAll, type Secret, secretLines, settingsProblem } from './secrets.ts';
import { type StartValues, startRows, startSettings } from './settings.ts';
import type { Problem } from './start-errors.ts';
import type { StartSetting } from './start-setting.ts';

export type { Worker } from './start-setting.ts';

/** The process, and its command line as it was read: each option under its attribute, defaults and variables included. */
interface StartGiven {
  options: Readonly<Record<string, unknown>>;
  env: Environment;
  cwd: string;
  log: Log;
}

export interface StartConfig extends StartValues {
  ownDomain: string;
  contracts: ContractAddresses;
  keys: { payout?: `0x${string}`; mint?: `0x${string}`; relay?: `0x${string}`; redemption?: `0x${string}` };
  /** Files of private keys that every user of the machine can read. */
  openKeyFiles: string[];
  /** NODE_TLS_REJECT_UNAUTHORIZED as it is set. */
  tlsRejectUnauthorized?: string | undefined;
  log: Log;
}

/** Throws E_SETTINGS with everything that is missing or malformed; E_USAGE for a text that is not understood at all. */
export async function readStartConfig(given: StartGiven): Promise<StartConfig> {
  const problems: string[] = [];
  const read: [string, unknown][] = [];
  for (const [key, row] of startRows) read.push([key, await readValue(row, given, problems)]);
  const values = Object.fromEntries(read) as unknown as StartValues;
  await fillFromContractsFile(values, given.cwd, (problem) => problems.push(problem));
  problems.push(...formProblems(values, (row) => isGiven(secretOf(row, given))));
  if (problems.length > 0) throw settingsProblem(problems);
  const { payoutKey: payout, mintKey: mint, relayKey: relay, redemptionKey: redemption } = values;
  return {
    ...values,
    ownDomain: values.ownDomain ?? values.publicDomains[0] ?? '',
    contracts: {
      token: values.tokenAddress,
      escrow: values.escrowAddress,
      perks: values.perksAddress,
      pointsSale: values.pointsSaleAddress,
    },
    keys: {
      ...(payout && { payout }),
      ...(mint && { mint }),
      ...(relay && { relay }),
      ...(redemption && { redemption }),
    },
    openKeyFiles: await openKeyFiles(given),
    tlsRejectUnauthorized: given.env.NODE_TLS_REJECT_UNAUTHORIZED,
    log: given.log,
  };
}

/** The settings that a contracts file holds, and the fields that hold them. */
const IN_CONTRACTS_FILE = {
  chainId: 'chainId',
  tokenAddress: 'token',
  escrowAddress: 'escrow',
  perksAddress: 'perks',
  pointsSaleAddress: 'pointsSale',
  deploymentBlock: 'deploymentBlock',
} as const satisfies Partial<Record<keyof StartValues, keyof ContractsFile>>;

type FromFile = Partial<Pick<StartValues, keyof typeof IN_CONTRACTS_FILE | 'contractsFile'>>;

/** Gives the settings that are not set their values of the contracts file. One that is set must be equal: nobody knows which is meant. */
export async function fillFromContractsFile(
  values: FromFile,
  cwd: string,
  onProblem: (problem: string) => void,
): Promise<void> {
  const { contractsFile } = values;
  if (contractsFile === undefined) return;
  const { variable } = namesOf(startSettings.contractsFile);
  let problems = 0;
  const file = await readContractsFile(resolve(cwd, contractsFile), (problem) => {
    problems += 1;
    onProblem(`${variable}: ${problem}`);
  });
  if (!file) {
    if (problems === 0) onProblem(`${variable}: ${contractsFile} does not exist`);
    return;
  }
  const single: Record<string, unknown> = values;
  for (const [key, field] of Object.entries(IN_CONTRACTS_FILE)) {
    const before = single[key];
    if (before === undefined) single[key] = file[field];
    else if (String(before).toLowerCase() !== String(file[field]).toLowerCase()) {
      const { variable: name } = namesOf(startSettings[key as keyof typeof IN_CONTRACTS_FILE]);
      onProblem(`${name} is ${before}, but ${contractsFile} says ${file[field]}; give one of the two`);
    }
  }
}

type Row = StartSetting<unknown>;

async function readValue(row: Row, given: StartGiven, problems: string[]): Promise<unknown> {
  const { attribute, long, variable } = namesOf(row);
  const { parse, mustBe, many, late } = row.kind;
  if (row.secret === 'file') {
    const of = { cwd: given.cwd, variable, secret: secretOf(row, given) };
    const lines = await secretLines(of, (problem) => problems.push(problem));
    if (lines.length === 0) return many && [];
    const value = parse(lines.join('\n'));
    const { files } = of.secret;
    const name = files ? `${variable}_FILE: ${files.join(', ')}` : variable;
    if (value === undefined) problems.push(`${name} is not ${mustBe}`);
    return value;
  }
  const option = given.options[attribute] ?? (many && []);
  if (!late) return option;
  const value = parse(String(option));
  if (value !== undefined) return value;
  throw new PreconditionError({
    code: 'E_USAGE',
    message: `${long} ${option} is not understood.`,
    fix: `It must be ${mustBe}.`,
  });
}

/** Reads files when any are named, else the variable, never both. */
function secretOf(row: Row, { options, env }: StartGiven): Secret {
  if (row.secret !== 'file') return {};
  const { attribute, variable } = namesOf(row);
  const files = [options[attribute] ?? []].flat() as string[];
  return files.length > 0 ? { files } : { value: env[variable] };
}

async function openKeyFiles(given: StartGiven): Promise<string[]> {
  const keys = startRows.filter(([, row]) => row.kind === privateKey);
  const files = keys.flatMap(([, row]) => secretOf(row, given).files ?? []);
  const open = await Promise.all(files.map((file) => isOpenToAll(resolve(given.cwd, file))));
  return files.filter((_, place) => open[place]);
}

/** All missing and malformed settings, in the order of the table, each named by its variable. */
function formProblems(values: StartValues, isGiven: (row: StartSetting<unknown>) => boolean): string[] {
  return startRows.flatMap(([key, row]) => {
    const { variable } = namesOf(row);
    const value = values[key];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) {
      const isNeeded = row.needed === true || row.needed?.(values);
      // The check of the kind reports a malformed key already.
      return isNeeded && !(row.kind === privateKey && isGiven(row)) ? [`${variable} is not set`] : [];
    }
    return row.check?.(value, variable, values) ?? [];
  });
}

/** All well-formed but unsafe settings. */
export const unsafeSettings = (values: StartValues): Problem[] =>
  startRows.flatMap(([key, row]) => row.unsafe?.(values[key], values) ?? []);
