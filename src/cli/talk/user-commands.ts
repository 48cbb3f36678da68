/** Commands about users: wallets, streaks, boards, achievements, constraints, and what they were rewarded over time. */

import { InvalidArgumentError } from 'commander';
import { historyRanges } from '../../lib/history-range.ts';
import { boardPeriods } from '../../rules/engagement/board-window.ts';
import { boardMetricNames } from '../../rules/engagement/rank-tree.ts';
import { option } from '../machine/options.ts';
import {
  apiKeyOption,
  BRAND,
  brandOption,
  expectOption,
  FIRST_BRAND,
  ledgerOptions,
  limitOption,
  USER,
} from '../machine/shared-options.ts';
import { from, type Verbs } from '../machine/verb.ts';

const users = from(() => import('./users.ts'));
const wallet = from(() => import('./wallet.ts'));
const streak = from(() => import('./streak.ts'));
const leaderboard = from(() => import('./leaderboard.ts'));
const achievements = from(() => import('./achievements.ts'));
const constraints = from(() => import('./constraints.ts'));
const history = from(() => import('./history.ts'));

const typeOption = () => option('--type <type>', "which of the user's streaks", { default: 'daily' });

/** Options of what writes. */
const writing = () => [
  option('--platform <name>', 'where the user is active, such as web'),
  apiKeyOption(),
  expectOption('200, 4xx, 400:milestone_not_reached'),
];

function tokenId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

export const userCommands = {
  users: {
    summary: 'list users, and show all about one (emulator only)',
    verbs: {
      list: {
        summary: 'list users with a wallet, the newest first',
        takes: [['[name]', 'only those whose e-mail or address begins so']],
        options: [
          option('--brand <brand>', `only those who have claimed an event of this brand: ${BRAND}`),
          option('--after <user>', 'only those that come after this one, which was listed last'),
          limitOption('number of users, at most', { default: 50 }),
        ],
        help: '\nExample:\n  rewards users list --brand demo.example',
        run: users('listUsers'),
      },
      show: {
        summary: 'show one user: wallet, claims and their cooldowns, streaks, what was paid',
        takes: [['<user>', USER]],
        help: '\nExample:\n  rewards users show alice@demo.example',
        run: users('showUser'),
      },
    },
  },
  wallet: {
    summary: 'give users their wallets, and show balances',
    description:
      'A user’s wallet is derived from the operator’s key tree at the first reward, login or registration, and never changes.',
    verbs: {
      pregenerate: {
        summary: 'give a user a wallet, or show the one they have',
        takes: [['<user>', 'an e-mail, or <platform>:<id> such as discord:123456789012345678']],
        options: [
          option('--username <name>', 'the user’s name on the platform [default: their id]'),
          brandOption(),
          apiKeyOption(),
          expectOption('200, 429, 400:invalid_oauth_user_id'),
        ],
        help: `
Examples:
  rewards wallet pregenerate discord:123456789012345678 --username alice
  rewards wallet pregenerate newcomer@demo.example`,
        run: wallet('pregenerateWallet'),
      },
      show: {
        summary: "show a user's address, place in the key tree and registrations (emulator only)",
        takes: [['<user>', USER]],
        run: wallet('showWallet'),
      },
      balance: {
        summary: 'show how many RWT a user holds on chain',
        takes: [['<user>', USER]],
        options: [brandOption()],
        help: '\nExample:\n  rewards wallet balance alice@demo.example -o env',
        run: wallet('walletBalance'),
      },
    },
  },
  streak: {
    summary: "show users' streaks, check users in, claim milestones",
    description: "Days in a row on which users were active, by the calendar of the brand's time zone.",
    verbs: {
      status: {
        summary: "show where a user's streak stands",
        takes: [['<user>', USER]],
        options: [brandOption(), typeOption()],
        run: streak('streakStatus'),
      },
      'check-in': {
        summary: 'record that a user was active today, which pays the check-in',
        takes: [['<user>', USER]],
        options: [brandOption(), typeOption(), ...writing()],
        help: '\nExample:\n  rewards streak check-in alice@demo.example',
        run: streak('checkIn'),
      },
      claim: {
        summary: 'claim the bonus of a milestone that a user has reached',
        takes: [
          ['<user>', USER],
          ['<days>', 'the days of the milestone, such as 7'],
        ],
        options: [brandOption(), typeOption(), ...writing()],
        run: streak('claimMilestone'),
      },
      settings: {
        summary: "show a brand's settings of streaks (emulator only)",
        description: '`rewards brand set` changes them.',
        options: [brandOption()],
        run: streak('streakSettings'),
      },
    },
  },
  leaderboard: {
    summary: "show which of a brand's users did most, and any user's own place",
    options: [
      option('--metric <metric>', Object.keys(boardMetricNames).join(', '), {
        default: 'rwt_earned',
      }),
      option('--period <period>', boardPeriods.join(', '), { default: 'week' }),
      option('--platform <name>', 'count only what was done there'),
      option('--limit <n>', 'users to show, 1 to 100', { default: '10' }),
      option(
        '--user <user>',
        'whose own place to show: an e-mail, an address, or with --platform an id there',
      ),
      brandOption(),
      apiKeyOption('brand API key, to see e-mails that the brand masks; - reads standard input'),
    ],
    help: `
Examples:
  rewards leaderboard --period month --user alice@demo.example
  rewards leaderboard --metric claims --platform discord -o json`,
    run: leaderboard('showLeaderboard'),
  },
  achievements: {
    summary: 'list what users of a brand can reach, and show or report how far one is',
    description:
      'Achievements are a setting of the brand: `rewards brand set <brand> "achievements.<type>=<metric> <threshold> <name>"` adds one, an empty value removes it. Claims, RWT earned and streak days are counted by the service; manual ones are reported.',
    verbs: {
      list: {
        summary: 'list the achievements of a brand',
        takes: [['[brand]', FIRST_BRAND]],
        options: ledgerOptions(),
        run: achievements('listAchievements'),
      },
      show: {
        summary: 'show how far a user is with each',
        takes: [['<user>', USER]],
        options: [brandOption()],
        help: '\nExample:\n  rewards achievements show alice@demo.example',
        run: achievements('showAchievements'),
      },
      progress: {
        summary: 'report progress towards an achievement of the metric manual',
        takes: [
          ['<user>', USER],
          ['<type>', 'the achievement'],
        ],
        options: [
          option('--add <n>', 'add to the progress [default: 1]'),
          option('--to <n>', 'what the progress is from now on'),
          brandOption(),
          apiKeyOption(),
          expectOption('200, 401:brand_key_required'),
        ],
        help: '\nExamples:\n  rewards achievements progress alice@demo.example chatterbox\n  rewards achievements progress discord:123456789012345678 chatterbox --to 40',
        run: achievements('reportProgress'),
      },
    },
  },
  constraints: {
    summary: 'check what buyers of perks must fulfil, and set the emulated chat',
    description:
      "A perk may ask more of its buyer than its price: a yes of the brand's server, another perk, a level or a role in a chat. All of it must hold when a perk is redeemed or bought through the relay. list and invalidate work on a production ledger too, with the address of its database; check and chat need the emulator: in production POST /perks/check-eligibility says what a buyer lacks.",
    verbs: {
      list: {
        summary: 'show the perks that have constraints',
        options: [...ledgerOptions(), brandOption()],
        run: constraints('listConstraints'),
      },
      check: {
        summary: 'check whether a user meets the constraints of a perk, and what is missing',
        takes: [
          ['<perk>', 'id of the perk, a UUID'],
          ['<user>', USER],
        ],
        options: [brandOption()],
        help: `
Examples:
  rewards constraints check e1e181ae-4528-46a0-be75-39696d3c73b9 alice@demo.example
Exits 1 when the user may not buy.`,
        run: constraints('checkConstraints'),
      },
      invalidate: {
        summary: "forget what a constraint's URL has said, so that the next check asks again",
        takes: [['<url>', 'the URL of the constraint']],
        options: [
          ...ledgerOptions(),
          option('--user <user>', `only results of this user: ${USER}`),
          option('--token-id <n>', 'only results for this perk, by its id on chain', { parse: tokenId }),
          brandOption(),
        ],
        run: constraints('invalidateResults'),
      },
      chat: {
        summary: "show levels and roles in the emulated chat, or set a user's",
        takes: [['[user]', USER]],
        options: [
          option('--platform <name>', 'the chat', { default: 'discord' }),
          option('--level <n>', "the user's level from now on", { parse: tokenId }),
          option('--role <role...>', 'all roles that the user has from now on'),
          option('--no-roles', 'take all roles from the user'),
          brandOption(),
        ],
        help: `
Examples:
  rewards constraints chat
  rewards constraints chat alice@demo.example --level 5 --role moderator`,
        run: constraints('chatStandings'),
      },
    },
  },
  history: {
    summary: 'show what was rewarded over the last hour, day, week or month',
    description:
      'Rewards and RWT over time, as the ledger of the running stack or, with the address of a database, of a production service has them. Failed rewards are not counted.',
    options: [
      option('--range <range>', 'how far back', { default: 'day', choices: historyRanges }),
      option('--brand <brand>', 'only what this brand rewards: its id, or one of its domains'),
      ...ledgerOptions(),
    ],
    help: `
Examples:
  rewards history
  rewards history --range week --brand demo.example
  rewards history --range hour -o json | jq .data.body.totals`,
    run: history('history'),
  },
} satisfies Verbs;
