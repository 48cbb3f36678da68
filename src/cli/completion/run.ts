/** `rewards completion <shell>`: prints the script. */
import type { Command } from 'commander';
import { catalogueOf } from '../about/completion.ts';
import { fishScript } from '../about/fish-script.ts';
import { bashScript, zshScript } from '../about/posix-script.ts';
import type { CommandContext } from '../machine/context.ts';
import { exitCodes } from '../machine/exit-codes.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

export async function printScript(
  { runtime, settings }: CommandContext,
  { shell, program }: { shell: keyof typeof scripts; program: Command },
) {
  const script = scripts[shell](catalogueOf(program));
  if (settings.output !== 'text') return { ok: true as const, data: { shell, script }, text: () => script };
  // Printed here, since a terminal's width must not break its lines.
  runtime.stdout.write(script);
  return exitCodes.done;
}
