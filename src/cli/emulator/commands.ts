/** Commands that steer the emulator. */

import { seams, spelled } from '../../emulator/faults/seams.ts';
import { usageError } from '../machine/errors.ts';
import { asGiven, durationMs, instantMs, option, wholeNumberOf } from '../machine/options.ts';
import { limitOption } from '../machine/shared-options.ts';
import { from, type Verbs } from '../machine/verb.ts';
import { persistToOptions } from '../run/serve-settings.ts';

const clock = from(() => import('./clock.ts'));
const chain = from(() => import('./chain.ts'));
const faults = from(() => import('./faults.ts'));
const token = from(() => import('./token.ts'));
const snapshots = from(() => import('./snapshots.ts'));
const reset = from(() => import('./reset.ts'));

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

const EXAMPLES = `
Examples:
  rewards faults set node=away --times 3
  rewards faults set node=slow:300ms --for 10m
  rewards faults clear node`;

const effectLines = () =>
  Object.entries(seams)
    .flatMap(([seam, { effects }]) =>
      Object.entries(effects).map(
        ([name, effect]) => `  ${`${seam}=${spelled(name, effect)}`.padEnd(30)} ${effect.does}`,
      ),
    )
    .join('\n');

const NAME = 'its name, as `rewards snapshot list` shows it';

export const emulatorCommands: Verbs = {
  clock: {
    summary: 'read and move the one clock of the emulator',
    description:
      'The rules, the chain and everything else in the emulator follow one clock. It only moves forward.',
    verbs: {
      show: { summary: 'print the time of the clock', run: clock('showClock') },
      due: {
        summary: 'list what falls due next: webhooks, checkouts, cooldowns, limits, tokens',
        options: [limitOption('number of moments, at most', { default: 20 })],
        help: '\nExample:\n  rewards clock due && rewards clock advance --until next',
        run: clock('showDue'),
      },
      advance: {
        summary: 'move the clock forward by a duration, or until something is due',
        description:
          'Moves from one moment at which something falls due to the next, works it off, and prints it.',
        usage: '<duration> | --until <condition>',
        takes: [['[duration]', 'such as 61s, 15m, 24h or 1h30m', forward]],
        negative: goesBack,
        options: [
          option('--until <condition>', 'to the moment from which one of those below holds'),
          option('--brand <brand>', 'whose event a cooldown is of, where several brands have it'),
        ],
        help: `
Until:
  next                   the earliest moment at which anything falls due
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
        run: clock('advanceClock'),
      },
      set: {
        summary: 'move the clock forward to a time',
        takes: [['<time>', 'RFC 3339, such as 2030-01-01T00:00:00Z', asGiven(instantMs)]],
        run: clock('setClock'),
      },
      freeze: { summary: 'stop it', run: clock('freezeClock') },
      run: { summary: 'let the clock run again', run: clock('runClock') },
    },
  },
  chain: {
    summary: "look at the running stack's chain: contracts, accounts and supply, blocks, one transaction",
    verbs: {
      show: {
        summary: 'print the contracts, what our accounts own, and how many RWT there are',
        isDefault: true,
        run: chain('showChain'),
      },
      blocks: {
        summary: 'print blocks with what they call, newest first',
        options: [
          option('--limit <n>', 'number of blocks, at most', { default: 10, parse: wholeNumberOf(1, 50) }),
          option('--before <number>', 'only blocks before this one', { parse: wholeNumberOf(0, 1e15) }),
        ],
        run: chain('listBlocks'),
      },
      block: {
        summary: 'print one block with all that it calls',
        takes: [['<number>', 'its number', wholeNumberOf(0, 1e15)]],
        options: [
          option('--from <place>', 'of the first transaction to print, from 0', {
            default: 0,
            parse: wholeNumberOf(0, 1e9),
          }),
          limitOption('number of transactions, at most', { default: 100 }),
        ],
        run: chain('showBlock'),
      },
      transaction: {
        summary: 'print one transaction: its call, its rewards and its logs in words',
        takes: [['<hash>', 'its hash']],
        run: chain('showTransaction'),
      },
    },
  },
  faults: {
    summary: 'let the node, the database and others fail on purpose (emulator only)',
    description:
      'What is outside of the service fails as it would in production: the service retries, refuses and recovers, and pays once.',
    verbs: {
      list: { summary: 'show the faults that are set', run: faults('listFaults') },
      set: {
        summary: 'set a fault, until it has struck often enough, its time has passed, or it is cleared',
        takes: [['<fault>', 'seam=effect, or a seam alone for its first effect']],
        options: [
          option('--times <number>', 'how many uses it strikes, whoever makes them', {
            parse: wholeNumberOf(1, Number.MAX_SAFE_INTEGER),
          }),
          option('--for <duration>', "how long it stays set, on the emulator's clock", {
            parse: asGiven(durationMs),
          }),
        ],
        help: `\nSeams and effects:\n${effectLines()}\n${EXAMPLES}`,
        run: faults('setFault'),
      },
      clear: {
        summary: 'clear a fault, all faults of a seam, or all',
        takes: [['[name]', 'id of a fault, or a seam [default: all]']],
        run: faults('clearFaults'),
      },
    },
  },
  token: {
    summary: "issue users' access tokens, and decode them",
    description:
      'The emulator has an identity provider of its own. Its tokens follow the clock of the emulator; discovery is at /_idp/.well-known/openid-configuration, beside the control API.',
    verbs: {
      issue: {
        summary: 'print a token of a user, as a login would give',
        options: [
          option(
            '--user <email>',
            'e-mail of the user; a user without a wallet gets one',
          ).makeOptionMandatory(),
          option('--expires <duration>', 'how long the token is valid, by the emulator’s clock; up to 30d', {
            default: '1h',
            parse: asGiven(durationMs),
          }),
          option('--audience <name>', 'audience of the token [default: this service]'),
        ],
        help: `
Examples:
  rewards token issue --user alice@demo.example
  curl -H "Authorization: Bearer $(rewards token issue --user alice@demo.example)" …
  rewards token issue --user alice@demo.example --audience other   (one that must be refused)`,
        run: token('issueToken'),
      },
      decode: {
        summary: 'print a token’s claims, when it expires, and whether the service accepts it',
        takes: [['<token>', 'the token; - reads it from standard input']],
        run: token('decodeToken'),
      },
      'rotate-keys': {
        summary: 'make the emulator sign with a new key',
        options: [option('--revoke', 'tokens of the earlier keys end at once')],
        run: token('rotateKeys'),
      },
    },
  },
  snapshot: {
    summary: 'save the whole stack, compare it, go back to it',
    description:
      'A snapshot is one file with the ledger, the chain, the payment processor, webhooks, the site and the clock of one moment.',
    verbs: {
      save: {
        summary: 'save the stack as it is now; nothing is held up',
        takes: [
          ['[name]', 'letters, digits, dots, dashes, underscores [default: snapshot-1, or the next free]'],
        ],
        options: [
          option('--note <text>', 'what it is for'),
          option('--replace', 'in the place of an older one of that name'),
        ],
        help: '\nExample:\n  rewards snapshot save base --note "two users, one purchase"',
        run: snapshots('saveSnapshot'),
      },
      restore: {
        summary: 'go back to a snapshot, or to a file of one, without a restart',
        takes: [['<name>', `${NAME}; or the path of a file, such as ./base.rewards`]],
        run: snapshots('restoreSnapshot'),
      },
      list: { summary: 'list the snapshots of the stack, newest first', run: snapshots('listSnapshots') },
      diff: {
        summary: 'tell what came, went and changed since a snapshot',
        takes: [
          ['<from>', NAME],
          ['[to]', 'another snapshot, or now', 'now'],
        ],
        run: snapshots('diffSnapshots'),
      },
      rm: { summary: 'delete a snapshot', takes: [['<name>', NAME]], run: snapshots('removeSnapshot') },
    },
  },
  undo: {
    summary: 'take back the last request that changed something, and say which it was',
    description:
      'Goes back to the state before the last request that changed something: an event, a checkout, a setting, a move of the clock, a restore. Several in a row go back further, up to 20 states.',
    run: snapshots('undo'),
  },
  reset: {
    summary: 'begin anew, in place while the stack runs; else delete its data for the next `serve`',
    description:
      'A stack that runs is brought back to what its seed files say, under the same addresses. Of a stopped one, ledger, chain and site are deleted. Asks first. Snapshots are kept.',
    options: [
      option('-y, --yes', 'do not ask'),
      option('--keep <what>', 'what a running stack keeps', { choices: ['clock'] }),
      ...persistToOptions(),
    ],
    run: reset('reset'),
  },
};
