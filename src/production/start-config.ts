/** Reads production's settings, checks their form, and returns them as values. */
import { resolve } from 'node:path';
import type { ContractAddresses } from '../chain/contracts/deployment-steps.ts';
import type { Environment } from '../compose/env.ts';
import { PreconditionError } from '../lib/failures/precondition.ts';
import type { Log } from '../lib/log.ts';
import { namesOf } from '../lib/setting.ts';
import { type ContractsFile, readContractsFile } from './contracts/deployment-files.ts';
import { contradictionsIn } from './contradictions.ts';
import { emptyFault, isOpenToAll, notSet, type Secret, secretLines, settingsProblem } from './secrets.ts';
import { type StartValues, startRows, startSettings } from './settings.ts';
import type { Problem } from './start-errors.ts';
import { type Fault, fault, type StartSetting } from './start-setting.ts';

export type { Worker } from './start-setting.ts';

/** The process, and its command line as it was read: each option under its attribute, defaults and variables included. */
interface StartGiven {
  options: Readonly<Record<string, unknown>>;
  env: Environment;
  /** Variables that are set and empty, which `env` leaves out. */
  emptyVariables?: readonly string[];
  cwd: string;
  log: Log;
}

export interface StartConfig extends StartValues {
  ownDomain: string;
  contracts: ContractAddresses;
  keys: { payout?: `0x${string}`; mint?: `0x${string}`; relay?: `0x${string}`; redemption?: `0x${string}` };
  /** Files of secrets that every user of the machine can read. */
  openSecretFiles: string[];
  /** NODE_TLS_REJECT_UNAUTHORIZED as it is set. */
  tlsRejectUnauthorized?: string | undefined;
  log: Log;
}

/** Throws E_SETTINGS with everything that is missing or malformed; E_USAGE for a text that is not understood at all. */
export async function readStartConfig(given: StartGiven): Promise<StartConfig> {
  const faults: Fault[] = [];
  for (const [, row] of startRows) faults.push(...emptyOf(row, given).map(emptyFault));
  const read: [string, unknown][] = [];
  for (const [key, row] of startRows)
    read.push([key, await readValue(row, given, (one) => faults.push(one))]);
  const values = Object.fromEntries(read) as unknown as StartValues;
  await fillFromContractsFile(values, given.cwd, (one) => faults.push(one));
  faults.push(...formFaults(values, (row) => isGiven(row, given)));
  // Values that are missing contradict nothing.
  if (faults.length === 0) faults.push(...contradictionsIn(values));
  if (faults.length > 0) throw settingsProblem(faults);
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
    openSecretFiles: await openSecretFiles(given),
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

/** Gives the settings that are not set their values of the contracts file. One that is set must be equal, since it cannot be known which of two is meant. */
export async function fillFromContractsFile(
  values: FromFile,
  cwd: string,
  onFault: (fault: Fault) => void,
): Promise<void> {
  const { contractsFile } = values;
  if (contractsFile === undefined) return;
  const { variable } = namesOf(startSettings.contractsFile);
  const fix = 'give the file that `rewards contracts deploy` wrote';
  let problems = 0;
  const file = await readContractsFile(resolve(cwd, contractsFile), (problem) => {
    problems += 1;
    onFault(fault(`${variable}: ${problem}`, fix));
  });
  if (!file) {
    if (problems === 0) onFault(fault(`${variable}: ${contractsFile} does not exist`, fix));
    return;
  }
  const single: Record<string, unknown> = values;
  for (const [key, field] of Object.entries(IN_CONTRACTS_FILE)) {
    const before = single[key];
    if (before === undefined) single[key] = file[field];
    else if (String(before).toLowerCase() !== String(file[field]).toLowerCase()) {
      const { variable: name } = namesOf(startSettings[key as keyof typeof IN_CONTRACTS_FILE]);
      const message = `${name} is ${before}, but ${contractsFile} says ${file[field]}; give one of the two`;
      onFault(fault(message, `unset ${name}, or ${variable}`));
    }
  }
}

type Row = StartSetting<unknown>;

async function readValue(row: Row, given: StartGiven, onFault: (fault: Fault) => void): Promise<unknown> {
  const { attribute, long, variable, optionVariable } = namesOf(row);
  const { parse, mustBe, many, late } = row.kind;
  if (row.secret === 'file') return readSecretValue(row, given, onFault);
  const option = given.options[attribute] ?? (many && []);
  const words = [option].flat();
  if (words.some((word) => typeof word === 'string' && word.trim() === '')) {
    const isVariable = given.env[optionVariable] !== undefined;
    const name = isVariable ? variable : long;
    onFault(words.length > 1 ? blankPart(name) : emptyFault(name));
    // What follows says nothing of its own about a text that is not there.
    return late ? parse(row.default ?? '') : many ? words.filter(isThere) : row.default;
  }
  if (many) return words.map((word) => (typeof word === 'string' ? word.trim() : word));
  if (!late) return option;
  const value = parse(String(option));
  if (value !== undefined) return value;
  throw new PreconditionError({
    code: 'E_USAGE',
    message: `${long} ${option} is not understood.`,
    fix: `It must be ${mustBe}.`,
  });
}

const isThere = (word: unknown) => String(word).trim() !== '';
const blankPart = (name: string) =>
  fault(`${name} has an empty part`, 'write its parts with one comma between two of them');

async function readSecretValue(
  row: Row,
  given: StartGiven,
  onFault: (fault: Fault) => void,
): Promise<unknown> {
  const { variable, long } = namesOf(row);
  const { parse, mustBe, many } = row.kind;
  const secret = secretOf(row, given);
  if (secret.files && given.env[variable] !== undefined) {
    const message = `${variable} is set both by itself and by a file (${secret.files.join(', ')})`;
    onFault(fault(message, `unset ${variable}, or ${variable}_FILE and ${long}`));
  }
  const lines = await secretLines({ cwd: given.cwd, variable, secret }, onFault);
  if (lines.length === 0) return many && [];
  const value = parse(lines.join('\n'));
  const name = secret.files ? `${variable}_FILE: ${secret.files.join(', ')}` : variable;
  if (value === undefined) onFault(fault(`${name} is not ${mustBe}`, `give ${mustBe}; ${row.help}`));
  return value;
}

/** Reads files when any are named, else the variable. */
function secretOf(row: Row, { options, env }: StartGiven): Secret {
  if (row.secret !== 'file') return {};
  const { attribute, variable } = namesOf(row);
  const files = [options[attribute] ?? []].flat() as string[];
  return files.length > 0 ? { files } : { value: env[variable] };
}

/** The variables of a row that are set and empty. */
function emptyOf(row: Row, { emptyVariables = [] }: StartGiven): string[] {
  const { variable, optionVariable } = namesOf(row);
  return [...new Set([variable, optionVariable])].filter((name) => emptyVariables.includes(name));
}

/** Whether somebody gave a value, be it one that says nothing: its own fault has been told. */
function isGiven(row: Row, given: StartGiven): boolean {
  const { files, value } = secretOf(row, given);
  const { attribute } = namesOf(row);
  if (emptyOf(row, given).length > 0) return true;
  return row.secret === 'file'
    ? files !== undefined || value !== undefined
    : [given.options[attribute] ?? []].flat().length > 0;
}

async function openSecretFiles(given: StartGiven): Promise<string[]> {
  const files = startRows.flatMap(([, row]) => secretOf(row, given).files ?? []);
  const open = await Promise.all(files.map((file) => isOpenToAll(resolve(given.cwd, file))));
  return files.filter((_, place) => open[place]);
}

/** All missing and malformed settings, in the order of the table, each named by its variable. */
function formFaults(values: StartValues, isGiven: (row: Row) => boolean): Fault[] {
  return startRows.flatMap(([key, row]) => {
    const { variable } = namesOf(row);
    const value = values[key];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) {
      const isNeeded = row.needed === true || row.needed?.(values);
      return isNeeded && !isGiven(row) ? [notSet(row)] : [];
    }
    return row.check?.(value, variable, values) ?? [];
  });
}

/** All well-formed but unsafe settings. */
export const unsafeSettings = (values: StartValues): Problem[] =>
  startRows.flatMap(([key, row]) => row.unsafe?.(values[key], values) ?? []);
