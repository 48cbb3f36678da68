/** Commands around your own commands. */

import { Argument } from 'commander';
import { gather, option, settingOption, wholeNumberOf } from '../machine/options.ts';
import { ledgerOptions, plainOption } from '../machine/shared-options.ts';
import { from, type Verbs } from '../machine/verb.ts';
import { persistToOptions, serveSettings } from '../run/serve-settings.ts';
import { formats } from './env-formats.ts';

const exec = from(() => import('./exec.ts'));
const env = from(() => import('./env.ts'));
const status = from(() => import('./status.ts'));
const top = from(() => import('./top.ts'));
const wait = from(() => import('./wait.ts'));
const open = from(() => import('./open.ts'));
const logs = from(() => import('./logs.ts'));
const stop = from(() => import('./stop.ts'));

/** `exec` chooses ports and folder by itself: two of them at once never meet. */
const CHOSEN = /^(-p, )?--(port|rpc-port|persist-to|ephemeral)\b/;

export const aroundCommands: Verbs = {
  exec: {
    summary: 'run a command with a stack of its own, which ends with it',
    description:
      'Starts a stack that keeps nothing on free ports, runs the command with the variables of `rewards env`, and ends the stack with it. The exit code is that of the command: 128 and the number of the signal that ended it, 127 when it does not exist; what keeps the stack from starting has the codes of `rewards serve`. Signals are passed on. The command’s rewards commands find the stack by themselves.',
    usage: '[options] -- <command> [arguments…]',
    takes: [['<command...>', 'what to run, after --']],
    options: serveSettings.filter(({ flag }) => !CHOSEN.test(flag)).map(settingOption),
    help: `
Examples:
  rewards exec -- npm test
  rewards exec --seed my-brand.yaml -- npx vitest run
  rewards exec --clock 2030-01-01T00:00:00Z -- ./smoke-test.sh`,
    run: exec('exec'),
  },
  env: {
    summary: 'print how a program under test finds the stack that runs here',
    description:
      'Prints the addresses and keys of the stack that runs here as environment variables, and nothing else. They are those of a development stack: none of them is worth anything elsewhere.',
    options: [
      option('--format <format>', 'notation of the variables; github is that of $GITHUB_ENV', {
        default: 'dotenv',
        choices: Object.keys(formats),
      }),
      option('--rename <OLD=NEW>', 'print OLD under the name NEW; may be given several times', {
        parse: gather,
      }),
    ],
    help: `
Examples:
  rewards env > .env
  eval "$(rewards env --format shell)"
  rewards env --rename REWARDS_EVENT_HANDLER_URL=VITE_EVENTS_URL
  rewards env --format github >> "$GITHUB_ENV"`,
    run: env('printEnvironment'),
  },
  status: {
    summary: 'ask each part of the running stack whether it works',
    description:
      'Asks service, ledger, chain, identity provider, payment processor, site and clock. Exit code 0 when all of them work, 1 when one does not, 3 when nothing runs here or nobody answers. Of a service named with --target it asks what its health tells.',
    run: status('status'),
  },
  top: {
    summary: 'show what happens now: clock, requests, what waits, lanes, budgets, alarms',
    description:
      'Asks the running stack or, with the address of a database, the ledger of a production service, which knows neither its alarms nor its rates. At a terminal it is the live view of `rewards serve`, with its keys, until q; those that change something are for the emulator alone.',
    options: [plainOption('print it once at a terminal too, as in a pipe'), ...ledgerOptions()],
    help: `
Examples:
  rewards top
  rewards top -o json | jq .data.body.waiting`,
    run: top('top'),
  },
  wait: {
    summary: 'wait until something is so: the stack is ready, a payment is minted, a balance is reached',
    description:
      'Waits until every --for holds, at most as long as --timeout says (30s), and changes nothing by it. Exit code 0 when all hold, 1 when one can never hold any more, such as a transaction that did nothing, 3 when the time is over.',
    options: [
      option('--for <condition>', 'what to wait for; may be given several times [default: ready]', {
        parse: gather,
      }),
    ],
    help: `
Conditions:
  ready                  the stack runs here, and is healthy
  tx:HASH                the transaction is in a block, and did what it was to do
  minted:SESSION         the RWT of the checkout are on chain; SESSION is its id, or latest
  balance:USER>=AMOUNT   the user has at least as many RWT; USER is an e-mail or an address
  webhook:EVENT          every endpoint has taken the event, of the service or of the payment processor

Examples:
  rewards wait --timeout 60s
  rewards checkout pay latest && rewards wait --for minted:latest
  rewards wait --for 'balance:alice@demo.example>=100'`,
    run: wait('wait'),
  },
  open: {
    summary: 'open a page of the running stack in the browser',
    description:
      'Prints the address of a page and opens it: the control API, signed in; the demo site; the reference of the API; the page of the newest open checkout. The browser is opened by a person at a terminal only, never in CI, through a pipe or with --no-browser.',
    takes: [
      new Argument('[page]', 'what to open')
        .choices(['control', 'site', 'docs', 'checkout'])
        .default('control'),
    ],
    options: [option('--no-browser', 'print the address alone', { env: 'REWARDS_NO_BROWSER' })],
    run: open('openPage'),
  },
  logs: {
    summary: 'print what a stack has logged and answered',
    description:
      'Prints the end of the log that every `rewards serve` keeps in its data folder: starts, stops, messages of its log level, and each request. It works for a stack in the background, one at another terminal, and one that has ended; an ephemeral stack takes its log with it. The file begins anew at 10 MB, and the one before it is kept.',
    options: [
      option('-f, --follow', 'go on with each new line until the stack ends, or a signal'),
      option('--lines <n>', 'at most this many lines of the past', {
        default: 100,
        parse: wholeNumberOf(0, 100_000),
      }),
      ...persistToOptions(),
    ],
    run: logs('logs'),
  },
  stop: {
    summary: 'stop the stack that runs here, and wait until it is gone',
    description:
      'Stops the stack of this directory or of the nearest one above, as Ctrl-C does, and waits until its process is gone, for as long as --timeout says. The process is known by its start as well, so another one that has got its number since is never stopped.',
    options: [option('--all', 'every stack that runs here, whatever its name; done when none does')],
    help: `
Examples:
  rewards stop
  rewards stop --name shop
  rewards stop --all`,
    run: stop('stop'),
  },
};
