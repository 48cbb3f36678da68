/** `rewards open`: the address of a page, and the browser on it. */
import { listSessions } from '../../contract/control/processor.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';
import { openBrowser } from '../open/browser.ts';
import type { Page } from '../open/pages.ts';
import { mustSucceed } from '../service/control-reply.ts';
import { clientFor, theRunHere } from '../service/target.ts';

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

/** Whether a person sits at the terminal: nobody does in CI, and a pipe's reader wants the address alone. */
const isAttended = ({ runtime, settings }: CommandContext): boolean =>
  settings.output === 'text' && runtime.stdout.isTTY && !runtime.env.CI;
