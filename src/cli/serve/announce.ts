/** Prints what is ready, in each format. */
import type { ServeConfig } from '../../emulator/serve-config.ts';
import { type Ready, readyEnvironment } from '../../stack/ready.ts';
import type { CommandContext } from '../machine/context.ts';
import { envLines } from '../machine/output.ts';
import { banner } from '../run/banner.ts';

export function announce(
  { runtime, settings, style }: CommandContext,
  { ready, config, tookMs }: { ready: Ready; config: ServeConfig; tookMs: number },
): void {
  const text = {
    text: () =>
      `${banner(ready, { style: style.stdout, tookMs, ephemeral: config.ephemeral, program: runtime.program, columns: runtime.stdout.columns })}\n`,
    json: () => `${JSON.stringify({ type: 'ready', ...ready })}\n`,
    jsonl: () => `${JSON.stringify({ type: 'ready', ...ready })}\n`,
    env: () => `${envLines(readyEnvironment(ready))}\n`,
  }[settings.output];
  runtime.stdout.write(text());
}
