/** `rewards users list|show`: which users there are, and everything about one. */
import {
  listUsers as listEndpoint,
  type ShownUser,
  showUser as showEndpoint,
} from '../../contract/control/users.ts';
import { counted } from '../../lib/text/counted.ts';
import { shellWord } from '../../lib/text/shell-quoted.ts';
import { asks } from '../service/control.ts';
import { type Style, shortHash } from '../terminal/style.ts';

interface ListOptions {
  name?: string;
  brand?: string;
  after?: string;
  limit: number;
}

export const listUsers = asks(listEndpoint, {
  request: ({ name, brand, after, limit }: ListOptions) => ({ query: { name, brand, after, limit } }),
  text: ({ users, more }, style) =>
    users.length === 0
      ? style.dim('no users')
      : [
          ...users.map(
            ({ user, address, createdAt }) => `${address}  ${style.bold(user)}  ${style.dim(createdAt)}`,
          ),
          ...(more ? [style.dim(`more: --after ${shellWord(users.at(-1)?.user ?? '')}`)] : []),
        ].join('\n'),
});

type UserStreak = NonNullable<ShownUser['brands'][number]['streak']>;

/** A screenful; `-o json` has all of them. */
const REWARDS_SHOWN = 20;

export const showUser = asks(showEndpoint, {
  request: ({ user }: { user: string }) => ({ path: { user } }),
  text: ({ user, address, rwt, createdAt, brands, rewards }, style) =>
    [
      `${style.bold(user)}  ${address}  ${style.bold(`${rwt} RWT`)}  ${style.dim(`since ${createdAt}`)}`,
      ...brands.flatMap((brand) => brandLines(brand, style)),
      ...(rewards.length === 0 ? [] : [style.bold('rewards')]),
      ...rewards.slice(0, REWARDS_SHOWN).map((reward) => rewardLine(reward, style)),
      ...(rewards.length > REWARDS_SHOWN ? [style.dim(`  and ${rewards.length - REWARDS_SHOWN} more`)] : []),
    ].join('\n'),
});

const brandLines = (
  { name, rewards, earned, streak, claims, aliases }: ShownUser['brands'][number],
  style: Style,
): string[] => [
  `${style.bold(name)}  ${earned} RWT in ${counted(rewards, 'reward')}`,
  ...(streak && streak.longest > 0
    ? [
        `  streak of ${streak.current}, the longest ${streak.longest}, multiplies by ${streak.multiplier}`,
        `  ${latestDays(streak)}  ${style.dim(`active on ${counted(streak.activeDays.length, 'day')} of a year; the last four weeks`)}`,
      ]
    : []),
  ...claims.map(({ eventType, claims: count, maxClaims, lastAt, againAt }) =>
    [
      `  ${eventType}`,
      `${count}${maxClaims === null ? '' : ` of ${maxClaims}`}`,
      maxClaims !== null && count >= maxClaims
        ? style.red('none left')
        : againAt === null
          ? style.green('may be claimed')
          : style.yellow(`again at ${againAt}`),
      style.dim(`last ${lastAt}`),
    ].join('  '),
  ),
  ...(aliases.length === 0 ? [] : [`  also known as ${aliases.join(', ')}`]),
];

const DAYS_DRAWN = 28;

/** A mark for each of the latest days, today's last. */
function latestDays({ today, activeDays }: Pick<UserStreak, 'today' | 'activeDays'>): string {
  const active = new Set(activeDays);
  const dates = Array.from({ length: DAYS_DRAWN }, (_, ago) =>
    new Date(Date.parse(today) - ago * 86_400_000).toISOString().slice(0, 10),
  );
  return dates
    .map((date) => (active.has(date) ? '■' : '·'))
    .reverse()
    .join('');
}

const rewardLine = (
  { at, amount, eventType, status, transactionHash, reason }: ShownUser['rewards'][number],
  style: Style,
): string =>
  [
    `  ${style.dim(at)}`,
    `+${amount} RWT`,
    eventType,
    status === 'failed' ? style.red(`failed: ${reason}`) : status,
    ...(transactionHash === null ? [] : [style.dim(shortHash(transactionHash))]),
  ].join('  ');
