/** `rewards streak`: names, arguments and options. */
import type { Command } from 'commander';
import { option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

const USER = 'an e-mail, an address, or <platform>:<id> such as discord:123456789012345678';
const BRAND = 'id or domain of the brand [default: the first brand of the stack that runs here]';

const withBrand = (command: Command) =>
  command.addOption(option('--brand <brand>', BRAND, { env: 'REWARDS_BRAND_ID' }));
const withType = (command: Command) =>
  command.addOption(option('--type <type>', "which of the user's streaks", { default: 'daily' }));
/** Options of what writes. */
const withKey = (command: Command) =>
  command
    .addOption(option('--platform <name>', 'where the user is active, such as web'))
    .addOption(
      option('--api-key-file <path>', 'brand API key, where the brand requires it; - reads standard input', {
        env: 'REWARDS_API_KEY_FILE',
      }),
    )
    .addOption(
      option('--expect <answer>', 'succeed only on this answer: 200, 4xx, 400:milestone_not_reached'),
    );

export function declareStreak({ parent, lazily }: Catalog): void {
  const streak = parent
    .command('streak')
    .summary("show users' streaks, check users in, claim milestones")
    .description("Days in a row on which users were active, by the calendar of the brand's time zone.");
  withType(
    withBrand(streak.command('status').summary("show where a user's streak stands").argument('<user>', USER)),
  ).action(lazily(async () => (await import('./streak.ts')).streakStatus));
  withKey(
    withType(
      withBrand(
        streak
          .command('check-in')
          .summary('record that a user was active today, which pays the check-in')
          .argument('<user>', USER),
      ),
    ),
  )
    .addHelpText('after', '\nExample:\n  rewards streak check-in alice@demo.example')
    .action(lazily(async () => (await import('./streak.ts')).checkIn));
  withKey(
    withType(
      withBrand(
        streak
          .command('claim')
          .summary('claim the bonus of a milestone that a user has reached')
          .argument('<user>', USER)
          .argument('<days>', 'the days of the milestone, such as 7'),
      ),
    ),
  ).action(lazily(async () => (await import('./streak.ts')).claimMilestone));
  withBrand(
    streak
      .command('settings')
      .summary("show a brand's settings of streaks (emulator only)")
      .description('`rewards brand set` changes them.'),
  ).action(lazily(async () => (await import('./streak.ts')).streakSettings));
}
