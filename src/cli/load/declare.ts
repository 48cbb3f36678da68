/** `rewards load`: names and options. */
import { InvalidArgumentError } from 'commander';
import type { Catalog } from '../machine/catalog.ts';
import { durationMs, gather, option, wholeNumberOf } from '../machine/options.ts';

/** Calls are signed and kept before the first is sent. */
const USERS_MAX = 2_000;
const PER_USER_MAX = 500;

export function declareLoad({ parent, lazily }: Catalog): void {
  const load = parent.command('load').summary('load tests that know the limits');
  load
    .command('relay')
    .summary('relay as many users at once, and hold the answers against the limit')
    .description(
      'Sends calls of fresh users through the relay and counts whether exactly as many pass as its limit says; checks the limit’s headers, then moves the emulator’s clock to the end of the windows and sees that all pass again. Each user comes from an address of their own (X-Forwarded-For).',
    )
    .addOption(option('--users <n>', 'how many', { default: 50, parse: wholeNumberOf(1, USERS_MAX) }))
    .addOption(
      option('--per-user <n>', 'calls of each', { default: 40, parse: wholeNumberOf(1, PER_USER_MAX) }),
    )
    .addOption(
      option('--concurrency <n>', 'calls under way at once [default 50]', { parse: wholeNumberOf(1, 5_000) }),
    )
    .addOption(
      option('--rate <n/s>', 'calls begun a second, in place of --concurrency', { parse: ratePerSecond }),
    )
    .addOption(option('--duration <duration>', 'begin no call later than this', { parse: durationMs }))
    .addOption(
      option(
        '--one-address',
        'all from one address: tests the limit of addresses instead, in a fresh minute',
      ),
    )
    .addOption(option('--no-reset', 'leave the emulator’s clock alone'))
    .addOption(
      option('--threshold <rule>', 'such as over_admission==0 or p95<200ms; crossed: exit 99; repeatable', {
        parse: gather,
      }),
    )
    .addOption(option('--report-html <path>', 'write a report with plots, one file that works offline'))
    .addOption(
      option('--brand <id>', 'whose page it comes from [default: the first]', { env: 'REWARDS_BRAND_ID' }),
    )
    .addHelpText(
      'after',
      `
Examples:
  rewards load relay --users 50 --per-user 40
  rewards load relay --users 200 --per-user 36 --rate 100/s --threshold 'p95<200ms' --report-html load.html

Thresholds compare over_admission, under_admission, sent, admitted, refused, failed, header_problems,
reset_problems, rate (admitted a second), or a latency in ms: avg, p50, p90, p95, p99, max.`,
    )
    .action(lazily(async () => (await import('./run.ts')).loadRelayTest));
}

function ratePerSecond(text: string): number {
  const rate = Number(/^(\d{1,6}(?:\.\d{1,3})?)(?:\/s)?$/.exec(text)?.[1]);
  if (!(rate > 0)) throw new InvalidArgumentError('It must be a number a second, such as 200/s.');
  return rate;
}
