/** Commands that check a stack and a production ledger. */
import { InvalidArgumentError, Option } from 'commander';
import type { Setting } from '../../lib/setting.ts';
import { startSettings } from '../../production/settings.ts';
import { option, settingOption, wholeNumberOf } from '../machine/options.ts';
import { ledgerOptions, nodeOptions } from '../machine/shared-options.ts';
import { from, type Verb, type Verbs } from '../machine/verb.ts';
import { serveSettings } from '../run/serve-settings.ts';

const verify = from(() => import('./verify.ts'));
const doctor = from(() => import('./doctor.ts'));
const lane = from(() => import('./lane.ts'));
const redemptions = from(() => import('./redemptions.ts'));
const recover = from(() => import('./recover.ts'));

/** The settings of each command that runs the service. */
export const settingsOf: Record<string, readonly Setting<unknown>[]> = {
  start: Object.values(startSettings),
  serve: serveSettings,
};

/** The settings of a command that runs the service. */
const configVerb = (name: string, rows: readonly Setting<unknown>[]): Verb => ({
  summary: `print the settings of \`rewards ${name}\`, which takes the same options`,
  isDefault: name === 'start',
  options: [
    // As text, without defaults and variables: the command itself reports origins and problems.
    ...rows.map(({ flag, help }) => new Option(flag, help)),
    new Option('--origin', 'a line for each: where it comes from, a tab, and the setting with its value'),
  ],
  run: async () => {
    const { showConfig } = await import('./config.ts');
    return (context, given: Record<string, unknown>) => showConfig(context, { name, rows, given });
  },
});

/** The list, as its group calls it. */
export const redemptionList = (path: string): Verb => ({
  summary: 'print what users redeemed, newest first: code, state, user, cost, transaction',
  options: [
    ...ledgerOptions(),
    option('--brand <brand>', 'its id or one of its domains [default: all brands]'),
    option('--waiting', 'only those that no transaction carries yet, oldest first, and why'),
    option('--limit <n>', 'how many at most [default: 50]', { parse: count }),
  ],
  help: `
Examples:
  rewards ${path} --waiting
  rewards ${path} --brand demo.example -o json | jq -r '.data.body.redemptions[] | select(.state == "valid") | .user'`,
  run: redemptions('listRedemptions'),
});

function count(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return Number(text);
}

const RECOVERY_SETTINGS = [
  startSettings.walletsXpub,
  startSettings.payoutKey,
  startSettings.mintKey,
  startSettings.redemptionKey,
  startSettings.relayKey,
  startSettings.confirmations,
  startSettings.finalityBlocks,
];

export const checkCommands: Verbs = {
  verify: {
    summary: 'compare ledger and chain; exit code 1 when they differ',
    description:
      'Changes nothing. Compares the ledger and chain of the emulator that runs here or, with the address of a database, a production ledger with its chain. With --since, what is older and every sum over all of history are not compared; the answer says so.',
    options: [
      ...ledgerOptions(),
      ...nodeOptions(),
      option('--limit <n>', 'stop after this number of differences', {
        default: 50,
        parse: wholeNumberOf(1, 1_000),
      }),
      option('--since <block|time>', 'compare a part: from this block, or from the first block at this time'),
    ],
    run: verify('verify'),
  },
  doctor: {
    summary: 'check this machine and its settings; exit code 1 on any problem',
    description:
      'Prints each problem and its fix as one line on stderr. With --quiet it prints nothing else.',
    takes: [
      [
        '[check...]',
        'only these checks: node, sqlite, anvil, ports, variables, stack, database, keyless, money, chain',
      ],
    ],
    options: [...ledgerOptions(), ...nodeOptions()],
    run: doctor('doctor'),
    verbs: {
      healthcheck: {
        summary: "ask the service in this container whether it is ready, as a container's health check",
        run: doctor('healthcheck'),
      },
    },
  },
  config: {
    summary: 'show the settings that a start would use, and where each comes from',
    verbs: {
      show: {
        summary: 'print the settings; exit code 2 when one is not understood',
        description:
          'Prints each setting with its value and its origin: option, environment, file or default. A secret is shown as set, never with its value. Reads settings and files of secrets, nothing else.',
        verbs: Object.fromEntries(
          Object.entries(settingsOf).map(([name, rows]) => [name, configVerb(name, rows)]),
        ),
      },
    },
  },
  lane: {
    summary: "the sending accounts of a production ledger, and other senders' use of their keys",
    verbs: {
      show: {
        summary: 'print the nonces of every sending account, by the ledger and by the chain',
        options: [...ledgerOptions(), ...nodeOptions(), settingOption(startSettings.finalityBlocks)],
        run: lane('showLane'),
      },
      'accept-nonce': {
        summary: 'let an account go on behind nonces that another sender used for good',
        description:
          'For the alarm foreign_nonce. Only nonces that final blocks hold, and for which the ledger never signed anything, are skipped. Without --yes it prints what it would do. A running service goes on by itself.',
        takes: [['<account>', 'address of the account']],
        options: [
          option(
            '--reason <text>',
            'why somebody else sent from it; kept in the ledger',
          ).makeOptionMandatory(),
          option('--by <name>', 'who accepts it; kept in the ledger').makeOptionMandatory(),
          option('-y, --yes', 'do it'),
          ...ledgerOptions(),
          ...nodeOptions(),
          settingOption(startSettings.finalityBlocks),
        ],
        run: lane('acceptNonce'),
      },
      retire: {
        summary: 'forget an account whose key was replaced: no figures, and no look at what its key does',
        description:
          'For an account that sends nothing any more. Only one with no transaction that is not final, from which no process sends. Without --yes it prints what it would do.',
        takes: [['<account>', 'address of the account']],
        options: [
          option('--reason <text>', 'why it is retired; kept in the ledger').makeOptionMandatory(),
          option('--by <name>', 'who retires it; kept in the ledger').makeOptionMandatory(),
          option('-y, --yes', 'do it'),
          ...ledgerOptions(),
          ...nodeOptions(),
          settingOption(startSettings.finalityBlocks),
        ],
        run: lane('retireLane'),
      },
    },
  },
  redemptions: {
    summary: 'redemptions that users asked for: look at them, and give up one that waits',
    description:
      'Works on the emulator that runs here, or with the address of a database on a production ledger, also beside its running service.',
    verbs: {
      list: redemptionList('redemptions list'),
      drop: {
        summary: 'give up a redemption that waits: RWT and stock that are kept for it are free again',
        takes: [['<id>', 'id of the redemption, as list prints it']],
        options: [...ledgerOptions()],
        help: `
One that a transaction carries cannot be dropped: its block decides.

Example:
  rewards redemptions drop 019aac5e-7a1b-7c3d-8e9f-0a1b2c3d4e5f`,
        run: redemptions('dropRedemption'),
      },
    },
  },
  recover: {
    summary: 'take into a production ledger what the chain has and the ledger has lost',
    description:
      'For a ledger that `rewards start` refuses as an old copy: a dump that was restored, or a failover that lost the last seconds. Reads the chain from the last block that both agree on, and the pools of the nodes. With --plan it prints what it would do; with --apply it does it, while no service runs, and can be run again when it was broken off. Give it the settings of the service.',
    options: [
      option('--plan', 'print what would be done, and what nobody can know; change nothing (the default)'),
      option('--apply', 'do it'),
      option(
        '--skip-numbers',
        'also where the chain shows nothing of what was lost: no wallet that was shown in it goes to somebody else',
      ),
      ...ledgerOptions(),
      ...nodeOptions(),
      ...RECOVERY_SETTINGS.map((row) => settingOption(row)),
    ],
    run: recover('recover'),
  },
};
