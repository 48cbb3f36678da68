/** `rewards load`. */
import { InvalidArgumentError } from 'commander';
import { loadLimits } from '../../lib/load-limits.ts';
import { durationMs, gather, option, wholeNumberOf } from '../machine/options.ts';
import { brandOption } from '../machine/shared-options.ts';
import { from, type Verbs } from '../machine/verb.ts';

const loadRelay = from(() => import('./load-relay.ts'));
const loadEvents = from(() => import('./load-events.ts'));

function ratePerSecond(text: string): number {
  const rate = Number(/^(\d{1,6}(?:\.\d{1,3})?)(?:\/s)?$/.exec(text)?.[1]);
  if (!(rate > 0)) throw new InvalidArgumentError('It must be a number per second, such as 200/s.');
  return rate;
}

/** How many are sent, and how fast. */
const manyOf = (what: 'calls' | 'events', perUser: number) => [
  option('--users <n>', 'how many', {
    default: loadLimits.usersDefault,
    parse: wholeNumberOf(1, loadLimits.usersMax),
  }),
  option('--per-user <n>', `${what} of each user`, {
    default: perUser,
    parse: wholeNumberOf(1, loadLimits.perUserMax),
  }),
  option('--concurrency <n>', `${what} in progress at once [default ${loadLimits.concurrencyDefault}]`, {
    parse: wholeNumberOf(1, loadLimits.concurrencyMax),
  }),
  option('--rate <n/s>', `${what} started per second, in place of --concurrency`, { parse: ratePerSecond }),
  option('--duration <duration>', `start no ${what.slice(0, -1)} later than this`, { parse: durationMs }),
];

const judging = (example: string) => [
  option('--threshold <rule>', `such as ${example} or p95<200ms; exit 99 when crossed; repeatable`, {
    parse: gather,
  }),
  option('--report-html <path>', 'write a report with plots, one file that works offline'),
];

export const loadCommands: Verbs = {
  load: {
    summary: 'load tests that compare answers with the limits',
    verbs: {
      relay: {
        summary: 'relay calls of many users at once, and compare the answers with the limit',
        description:
          'Sends calls of fresh users through the relay and checks that exactly as many pass as the limit allows; checks the limit’s headers; then moves the emulator’s clock to the end of the windows and checks that all users pass again. Each user has an address of their own (X-Forwarded-For).',
        options: [
          ...manyOf('calls', 40),
          option(
            '--one-address',
            'send all calls from one address: tests the limit per address instead, in a fresh minute',
          ),
          option('--no-reset', 'do not move the emulator’s clock'),
          ...judging('over_admission==0'),
          brandOption('id or domain of the brand whose page the calls come from [default: the first]'),
        ],
        help: `
Examples:
  rewards load relay --users 50 --per-user 40
  rewards load relay --users 200 --per-user 36 --rate 100/s --threshold 'p95<200ms' --report-html load.html

Thresholds compare over_admission, under_admission, sent, admitted, refused, failed, header_problems,
reset_problems, rate (admitted a second), or a latency in ms: avg, p50, p90, p95, p99, max.`,
        run: loadRelay('loadRelayTest'),
      },
      events: {
        summary: 'send events of many users at once, and compare rewards and payments with the rules',
        description:
          'Sends the same event of fresh users again and again, and checks that exactly one of each user is rewarded, as duplicate window and cooldown say; then counts what each user has on chain, and compares ledger and chain. The event may not be limited for all users together.',
        options: [
          option('--event <type>', 'which event', { default: 'account_creation' }),
          ...manyOf('events', 10),
          ...judging('over_payment==0'),
          brandOption('id or domain of the brand [default: the first]'),
        ],
        help: `
Examples:
  rewards load events --users 50 --per-user 10
  rewards load events --users 200 --rate 100/s --threshold 'p95<200ms' --report-html events.html

Thresholds compare over_admission, under_admission, over_payment, under_payment (RWT), differences (of ledger
and chain), sent, admitted, refused, failed, rate (rewarded a second), or a latency in ms: avg, p50, p90, p95,
p99, max.`,
        run: loadEvents('loadEventsTest'),
      },
    },
  },
};
