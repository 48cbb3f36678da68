/** `rewards verify`: ledger against chain, of the emulator or of production. */
import type { VerifyBody } from '../../client/bodies.ts';
import { isGiven } from '../../production/secrets.ts';
import { withLedger } from '../db/run.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { problemOf } from '../machine/errors.ts';
import { isObject } from '../service/assignments.ts';
import { mustBe } from '../service/control-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import { type LedgerOptions, ledgerSecrets } from '../start/options.ts';
import type { Style } from '../terminal/style.ts';

export const verify: Handler<LedgerOptions & { limit: number }> = async (context, options) => {
  const { database } = ledgerSecrets(options);
  const isProduction = isGiven(database) && context.settings.target === undefined;
  const report = isProduction ? await ofLedger(context, options) : await ofEmulator(context, options);
  if (report.ok) return { ok: true, data: report, text: (style) => agreement(report, style) };
  const { differences, complete } = report;
  const count = `${complete ? '' : 'at least '}${differences.length}`;
  const message = `Ledger and chain differ in ${count} ${differences.length === 1 ? 'place' : 'places'}.`;
  const error = problemOf('E_DIFFERENCES', { message });
  return { ok: false, error, data: report, text: (style) => differenceText(report, { message, style }) };
};

async function ofEmulator(context: CommandContext, { limit }: { limit: number }): Promise<VerifyBody> {
  const reply = await clientFor(await resolveTarget(context), context).control.verify(limit);
  mustBe(reply, (body) => isObject(body) && Array.isArray(body.differences));
  return reply.body;
}

const ofLedger = (context: CommandContext, options: LedgerOptions & { limit: number }): Promise<VerifyBody> =>
  withLedger(context, options, (ledger) => ledger.verify(ledgerSecrets(options).nodes, options.limit));

const agreement = ({ block, checked }: VerifyBody, style: Style) =>
  `${style.green('ledger and chain agree')} up to block ${block ?? 'none'}: ${Object.entries(checked)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ')}`;

function differenceText(
  { differences }: VerifyBody,
  { message, style }: { message: string; style: Style },
): string {
  const lines = differences.flatMap(({ kind, message: what, about, expected, found }) => [
    `${style.red(kind)}  ${what}`,
    ...Object.entries(about).map(([name, value]) => `  ${style.dim(name.padEnd(12))} ${value ?? '-'}`),
    `  ${style.dim('expected'.padEnd(12))} ${expected ?? '-'}`,
    `  ${style.dim('found'.padEnd(12))} ${found ?? '-'}`,
  ]);
  return [...lines, message].join('\n');
}
