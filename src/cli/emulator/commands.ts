/** `rewards clock`: names, arguments and summaries. */

import { usageError } from '../machine/errors.ts';
import { answerNegative, asGiven, durationMs, instantMs, option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

const goesBack = (given: string) =>
  usageError(
    `${given} goes back, and time moves only forward.`,
    '`rewards snapshot restore <name>` brings an earlier state back, with its time.',
  );

/** A duration as it was given. */
function forward(text: string): string {
  if (/^-\d/.test(text)) throw goesBack(text);
  if (/^\d+$/.test(text)) {
    throw usageError(
      `${text} has no unit.`,
      `Write \`rewards clock advance ${text}s\` for seconds, or m, h or d.`,
    );
  }
  return asGiven(durationMs)(text);
}

export function declareClock({ parent, lazily }: Catalog): void {
  const clock = parent
    .command('clock')
    .summary('read and move the one clock of the emulator')
    .description(
      'The rules, the chain and everything else in the emulator follow one clock. It only moves forward.',
    );
  clock
    .command('show')
    .summary('print the time of the clock')
    .action(lazily(async () => (await import('./clock.ts')).showClock));
  answerNegative(clock.command('advance'), goesBack)
    .summary('move the clock forward by a duration, or until something is due')
    .description(
      'Moves from one moment at which something falls due to the next, works it off, and prints it.',
    )
    .usage('<duration> | --until <condition>')
    .argument('[duration]', 'such as 61s, 15m, 24h or 1h30m', forward)
    .addOption(option('--until <condition>', 'to the moment from which one of those below holds'))
    .addOption(option('--brand <brand>', 'whose event a cooldown is of, where several brands have it'))
    .addHelpText(
      'after',
      `
Until:
  cooldown:USER/EVENT    the user may claim the event again
  window-reset:USER      all of the user's relayed calls are free again; or of an address, or a brand
  webhook-retry:ID       the next attempt to deliver a webhook; latest: of any
  token-expiry[:TOKEN]   the token is no longer taken; without it, the one issued last
  checkout-expiry:ID     the session can no longer be paid; latest: the newest
  REQUEST                the refused event of a request passes; latest: of the last request

Examples:
  rewards clock advance 26h
  rewards clock advance --until cooldown:alice@demo.example/purchase
  rewards clock advance --until req_8f21`,
    )
    .action(lazily(async () => (await import('./clock.ts')).advanceClock));
  clock
    .command('set')
    .summary('move the clock forward to a time')
    .argument('<time>', 'RFC 3339, such as 2030-01-01T00:00:00Z', asGiven(instantMs))
    .action(lazily(async () => (await import('./clock.ts')).setClock));
  clock
    .command('freeze')
    .summary('stop it')
    .action(lazily(async () => (await import('./clock.ts')).freezeClock));
  clock
    .command('run')
    .summary('let the clock run again')
    .action(lazily(async () => (await import('./clock.ts')).runClock));
}
