/** Commands that tell about the program itself. */

import { Argument, type Command } from 'commander';
import { option } from '../machine/options.ts';
import { from, type Verb, type Verbs } from '../machine/verb.ts';
import { kinds } from './completion-kinds.ts';

const openapi = from(() => import('./openapi.ts'));
const completionValues = from(() => import('./completion-values.ts'));

const HOW = {
  bash: 'source <(rewards completion bash)                        # in ~/.bashrc',
  zsh: 'rewards completion zsh > "$fpath[1]/_rewards"            # then begin a new shell',
  fish: 'rewards completion fish > ~/.config/fish/completions/rewards.fish',
};

/** A script for a shell, made from the commands as they are declared. */
const scriptVerb = (shell: keyof typeof HOW): Verb => ({
  summary: `print the script for ${shell}`,
  help: `\nInstall:\n  ${HOW[shell]}`,
  run: async (command) => {
    const { printScript } = await import('./completion.ts');
    // By now every command is declared.
    const program = rootOf(command);
    return (context) => printScript(context, { shell, program });
  },
});

const rootOf = (command: Command): Command => (command.parent ? rootOf(command.parent) : command);

export const aboutCommands: Verbs = {
  openapi: {
    summary: "print the API's description as OpenAPI 3.1",
    description:
      'Prints the OpenAPI 3.1 document of a host. No service needs to run; with --target, the document names that address.',
    options: [
      option(
        '--host <host>',
        'the host: the event handler, the one that registers users, the services for users, the relay, or the controls of the emulator',
        {
          default: 'events',
          choices: ['events', 'register', 'services', 'relay', 'control'],
        },
      ),
    ],
    help: '\nExample:\n  rewards openapi > openapi.json',
    run: openapi('printOpenapi'),
  },
  completion: {
    summary: 'print the completion of this program for a shell',
    description:
      'Prints a script with which a shell completes commands, options and their values; of the stack that runs here also its brands, event types, users, checkouts and snapshots. It asks the stack for at most a second, and is silent where none runs.',
    verbs: {
      bash: scriptVerb('bash'),
      zsh: scriptVerb('zsh'),
      fish: scriptVerb('fish'),
      values: {
        hidden: true,
        summary: 'print values of the running stack, for the scripts',
        takes: [new Argument('<kind>', 'what to print').choices(kinds)],
        run: completionValues('printValues'),
      },
    },
  },
};
