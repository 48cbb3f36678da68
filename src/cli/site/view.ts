/** What happens on the site, and its users, for people. */
import type { FiredHook, SiteUser } from '../../contract/control/site.ts';
import type { Style } from '../terminal/style.ts';

type Call = FiredHook['calls'][number];

/** One event: what it earned, or why it was refused. */
export function callLine({ success, status, eventName, message, reward }: Call, user: string, style: Style) {
  const { green, red, bold } = style;
  const outcome = success
    ? green(reward === null ? String(status) : `+${reward} RWT`)
    : red(status > 0 ? String(status) : 'no answer');
  return [outcome, bold(eventName), user, ...(message === '' ? [] : [message])].join('  ');
}

export const firedText = ({ user, calls }: FiredHook, style: Style): string =>
  calls.map((call) => callLine(call, user, style)).join('\n');

export const userLine = ({ login, email, displayName, role }: SiteUser, style: Style): string =>
  [
    style.bold(login.padEnd(12)),
    email,
    ...(displayName === login ? [] : [displayName]),
    ...(role === 'administrator' ? [style.cyan(role)] : []),
  ].join('  ');
