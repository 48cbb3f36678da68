/** `rewards verify`: ledger against chain, of the emulator or of production. */

import type { VerifyAnswer } from '../../contract/control/mints.ts';
import * as mints from '../../contract/control/mints.ts';
import { parseSince, SINCE_MUST_BE, type Since } from '../../rules/since.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { problemOf, usageError } from '../machine/errors.ts';
import { type LedgerOptions, ledgerSecrets } from '../machine/shared-options.ts';
import { mustSucceed } from '../service/control-reply.ts';
import { meansLedger, withLedger } from '../service/ledger.ts';
import { callFor } from '../service/target.ts';
import { createProgress } from '../terminal/progress.ts';
import type { Style } from '../terminal/style.ts';

type VerifyCommandOptions = LedgerOptions & { limit: number; since?: string };

export const verify: Handler<VerifyCommandOptions> = async (context, options) => {
  readSince(options);
  const report = await (meansLedger(context, options) ? ofLedger : ofEmulator)(context, options);
  if (report.ok) return { ok: true, data: report, text: (style) => agreement(report, style) };
  const { differences, complete } = report;
  const count = `${complete ? '' : 'at least '}${differences.length}`;
  const message = `Ledger and chain differ in ${count} ${differences.length === 1 ? 'place' : 'places'}.`;
  const error = problemOf('E_DIFFERENCES', { message });
  return { ok: false, error, data: report, text: (style) => differenceText(report, { message, style }) };
};

function readSince({ since: text }: VerifyCommandOptions): Since | undefined {
  const since = text === undefined ? undefined : parseSince(text);
  if (text !== undefined && !since)
    throw usageError(`--since ${text} is not accepted.`, `Give ${SINCE_MUST_BE}.`);
  return since;
}

async function ofEmulator(context: CommandContext, choice: VerifyCommandOptions): Promise<VerifyAnswer> {
  const { limit, since } = choice;
  const call = await callFor(context);
  const progress = createProgress(context);
  progress.show('comparing');
  const reply = await call(mints.verify, { query: { limit, since } }).finally(progress.clear);
  mustSucceed(reply);
  return reply.body;
}

async function ofLedger(context: CommandContext, options: VerifyCommandOptions): Promise<VerifyAnswer> {
  const { limit } = options;
  const progress = createProgress(context);
  try {
    return await withLedger(context, options, (ledger) =>
      ledger.verify(ledgerSecrets(options).nodes, {
        differencesMax: limit,
        since: readSince(options),
        onProgress: ({ part, done, of }) => progress.show(part, done, of),
      }),
    );
  } finally {
    progress.clear();
  }
}

const agreement = (report: VerifyAnswer, style: Style) =>
  [
    `${style.green('ledger and chain agree')} ${reach(report)}: ${Object.entries(report.checked)
      .map(([what, count]) => `${count} ${count === 1 ? what.replace(/s$/, '') : what}`)
      .join(', ')}`,
    ...limits(report, style),
  ].join('\n');

const reach = ({ since, block }: VerifyAnswer) =>
  `${since === null ? '' : `from block ${since} `}up to block ${block ?? 'none'}`;

/** What a person should look at, and what the comparison says nothing about. */
const limits = ({ behind, notCompared, flagged }: VerifyAnswer, style: Style) => [
  ...flagged.map(
    ({ kind, message, about }) =>
      `${style.yellow(kind)}  ${message}${about.session === undefined ? '' : `: session ${about.session ?? '-'}`}`,
  ),
  ...(behind ? [`the ledger is ${behind} ${behind === 1 ? 'block' : 'blocks'} behind the chain`] : []),
  ...(notCompared.length > 0 ? [style.yellow(`not compared: ${notCompared.join('; ')}`)] : []),
];

function differenceText(report: VerifyAnswer, { message, style }: { message: string; style: Style }): string {
  const lines = report.differences.flatMap(({ kind, message: what, about, expected, found }) => [
    `${style.red(kind)}  ${what}`,
    ...Object.entries(about).map(([name, value]) => `  ${style.dim(name.padEnd(12))} ${value ?? '-'}`),
    `  ${style.dim('expected'.padEnd(12))} ${expected ?? '-'}`,
    `  ${style.dim('found'.padEnd(12))} ${found ?? '-'}`,
  ]);
  return [...lines, ...limits(report, style), message].join('\n');
}
