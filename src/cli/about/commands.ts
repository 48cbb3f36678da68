/** `rewards completion`: a script for each shell, made from the commands as they are declared. */
import { Argument } from 'commander';
import type { Catalog } from '../machine/verb.ts';
import { kinds } from './completion-kinds.ts';

const HOW = {
  bash: 'source <(rewards completion bash)                        # in ~/.bashrc',
  zsh: 'rewards completion zsh > "$fpath[1]/_rewards"            # then begin a new shell',
  fish: 'rewards completion fish > ~/.config/fish/completions/rewards.fish',
};

export function declareCompletion({ parent, lazily }: Catalog): void {
  const completion = parent
    .command('completion')
    .summary('print the completion of this program for a shell')
    .description(
      'Prints a script with which a shell completes commands, options and their values; of the stack that runs here also its brands, event types, users, checkouts and snapshots. It asks the stack for at most a second, and is silent where none runs.',
    );
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    completion
      .command(shell)
      .summary(`print the script for ${shell}`)
      .addHelpText('after', `\nInstall:\n  ${HOW[shell]}`)
      .action(
        lazily(async () => {
          const { printScript } = await import('./completion.ts');
          // By now every command is declared.
          return (context) => printScript(context, { shell, program: parent });
        }),
      );
  }
  completion
    .command('values', { hidden: true })
    .summary('print values of the running stack, for the scripts')
    .addArgument(new Argument('<kind>', 'what to print').choices(kinds))
    .action(lazily(async () => (await import('./completion-values.ts')).printValues));
}
