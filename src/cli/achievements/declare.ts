/** `rewards achievements`: names, arguments and options. */

import { option } from '../machine/options.ts';
import { ledgerOptions } from '../machine/setting-options.ts';
import type { Catalog } from '../machine/verb.ts';

const USER = 'an e-mail, an address, or <platform>:<id> such as discord:123456789012345678';
const BRAND = 'id or domain of the brand [default: the first brand of the stack that runs here]';

export function declareAchievements({ parent, lazily }: Catalog): void {
  const achievements = parent
    .command('achievements')
    .summary('list what users of a brand can reach, and show or report how far one is')
    .description(
      'Achievements are a setting of the brand: `rewards brand set <brand> "achievements.<type>=<metric> <threshold> <name>"` adds one, an empty value removes it. Claims, RWT earned and streak days are counted by the service; manual ones are reported.',
    );
  const list = achievements
    .command('list')
    .summary('list the achievements of a brand')
    .argument('[brand]', BRAND);
  for (const one of ledgerOptions()) list.addOption(one);
  list.action(lazily(async () => (await import('../talk/achievements.ts')).listAchievements));
  achievements
    .command('show')
    .summary('show how far a user is with each')
    .argument('<user>', USER)
    .addOption(option('--brand <brand>', BRAND, { env: 'REWARDS_BRAND_ID' }))
    .addHelpText('after', '\nExample:\n  rewards achievements show alice@demo.example')
    .action(lazily(async () => (await import('../talk/achievements.ts')).showAchievements));
  achievements
    .command('progress')
    .summary('report progress towards an achievement of the metric manual')
    .argument('<user>', USER)
    .argument('<type>', 'the achievement')
    .addOption(option('--add <n>', 'add to the progress [default: 1]'))
    .addOption(option('--to <n>', 'what the progress is from now on'))
    .addOption(option('--brand <brand>', BRAND, { env: 'REWARDS_BRAND_ID' }))
    .addOption(
      option('--api-key-file <path>', 'brand API key, where the brand requires it; - reads standard input', {
        env: 'REWARDS_API_KEY_FILE',
      }),
    )
    .addOption(option('--expect <answer>', 'succeed only on this answer: 200, 401:brand_key_required'))
    .addHelpText(
      'after',
      '\nExamples:\n  rewards achievements progress alice@demo.example chatterbox\n  rewards achievements progress discord:123456789012345678 chatterbox --to 40',
    )
    .action(lazily(async () => (await import('../talk/achievements.ts')).reportProgress));
}
