/** `rewards leaderboard`: names, arguments and options. */
import { boardPeriods } from '../../rules/engagement/board-window.ts';
import { boardMetricNames } from '../../rules/engagement/rank-tree.ts';
import { option } from '../machine/options.ts';
import type { Catalog } from '../machine/verb.ts';

export function declareLeaderboard({ parent, lazily }: Catalog): void {
  parent
    .command('leaderboard')
    .summary("show which of a brand's users did most, and any user's own place")
    .addOption(
      option('--metric <metric>', Object.keys(boardMetricNames).join(', '), {
        default: 'rwt_earned',
      }),
    )
    .addOption(option('--period <period>', boardPeriods.join(', '), { default: 'week' }))
    .addOption(option('--platform <name>', 'count only what was done there'))
    .addOption(option('--limit <n>', 'users to show, 1 to 100', { default: '10' }))
    .addOption(
      option(
        '--user <user>',
        'whose own place to show: an e-mail, an address, or with --platform an id there',
      ),
    )
    .addOption(
      option(
        '--brand <brand>',
        'id or domain of the brand [default: the first brand of the stack that runs here]',
        {
          env: 'REWARDS_BRAND_ID',
        },
      ),
    )
    .addOption(
      option(
        '--api-key-file <path>',
        'brand API key, to see e-mails that the brand masks; - reads standard input',
        {
          env: 'REWARDS_API_KEY_FILE',
        },
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  rewards leaderboard --period month --user alice@demo.example
  rewards leaderboard --metric claims --platform discord -o json`,
    )
    .action(lazily(async () => (await import('../talk/leaderboard.ts')).showLeaderboard));
}
