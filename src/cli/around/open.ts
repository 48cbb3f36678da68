/** `rewards open`: the address of a page, and the browser on it. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '../../compose/env.ts';
import { listSessions } from '../../contract/control/processor.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';
import { mustSucceed } from '../service/control-reply.ts';
import { clientFor, theRunHere } from '../service/target.ts';

type Page = 'control' | 'site' | 'docs' | 'checkout';

export const openPage: Handler<{ page: Page; browser: boolean }> = async (context, { page, browser }) => {
  const url = await addressOf(context, page);
  const opened = browser && isAttended(context) && (await openBrowser(url, context.runtime.env));
  return {
    ok: true,
    data: { page, url, opened },
    env: { url },
    text: (style) => (opened ? `${url}  ${style.dim('opened')}` : url),
  };
};

async function addressOf(context: CommandContext, page: Page): Promise<string> {
  const run = await theRunHere(context);
  context.about.target = run.urls.events;
  if (page === 'site') return run.urls.site;
  if (page === 'docs') return `${run.urls.events}/docs`;
  // The token goes into a cookie with the first page, and out of the address.
  if (page === 'control') return `${run.urls.control}?token=${run.controlToken}`;
  const { urls, controlToken } = run;
  const { call } = clientFor({ urls, controlToken }, context);
  const reply = await call(listSessions, { query: { status: 'open', limit: 1 } });
  mustSucceed(reply);
  const url = reply.body.sessions[0]?.url;
  if (!url) {
    throw new CliError('E_REFUSED', {
      message: 'No checkout is open, so there is no page on which to pay.',
      fix: 'Begin one: `rewards checkout create --amount 500 --user <email>`.',
    });
  }
  return url;
}

/** Whether a person sits at the terminal: not in CI, and the reader of a pipe wants the address alone. */
const isAttended = ({ runtime, settings }: CommandContext): boolean =>
  settings.output === 'text' && runtime.stdout.isTTY && !runtime.env.CI;

const openers: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  // `start` takes its first quoted argument for a title.
  win32: ['cmd', '/c', 'start', ''],
};

/** Resolves with whether a program that opens addresses has been started; it goes on by itself. */
async function openBrowser(url: string, env: Environment): Promise<boolean> {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  // `&` ends a command of cmd.
  const address = process.platform === 'win32' ? url.replaceAll('&', '^&') : url;
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true, env });
  child.unref();
  try {
    await once(child, 'spawn');
    return true;
  } catch {
    return false;
  }
}
