/** Reads production's settings, checks their form, and returns them as values. */
import { resolve } from 'node:path';
import type { ContractAddresses } from '../chain/contracts/deploy.ts';
import type { Environment } from '../compose/env.ts';
import { PreconditionError } from '../compose/precondition.ts';
import type { Log } from '../lib/log.ts';
import { namesOf } from '../lib/setting.ts';
import { isGiven, isOpenToAll, type Secret, secretLines, settingsProblem } from './secrets.ts';
import { formProblems, privateKey, type StartSetting, type StartValues, startRows } from './settings.ts';

export type { Worker } from './settings.ts';

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
  keys: { payout?: `0x${string}`; mint?: `0x${string}`; relay?: `0x${string}` };
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
  problems.push(...formProblems(values, (row) => isGiven(secretOf(row, given))));
  if (problems.length > 0) throw settingsProblem(problems);
  const { payoutKey: payout, mintKey: mint, relayKey: relay } = values;
  return {
    ...values,
    ownDomain: values.ownDomain ?? values.publicDomains[0] ?? '',
    contracts: {
      token: values.tokenAddress,
      escrow: values.escrowAddress,
      perks: values.perksAddress,
      pointsSale: values.pointsSaleAddress,
    },
    keys: { ...(payout && { payout }), ...(mint && { mint }), ...(relay && { relay }) },
    openKeyFiles: await openKeyFiles(given),
    tlsRejectUnauthorized: given.env.NODE_TLS_REJECT_UNAUTHORIZED,
    log: given.log,
  };
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
    if (value === undefined) problems.push(`${variable} is not ${mustBe}`);
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
