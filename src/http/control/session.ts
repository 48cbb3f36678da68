/** Who may use the control API: programs with its token, and browsers that came by the link of the banner to look. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

/** Below `/_rewards`: what is the program's own, and the same for everybody. */
const DESCRIPTION = /^(?:\/_rewards)?\/(?:docs|openapi\.json|console\/assets\/[^/]+)$/;

/** Below `/_rewards`: what a sender of webhooks posts to, which knows no token. */
const INBOX = /^(?:\/_rewards)?\/inbox$/;

/** Whether somebody delivers a webhook; nothing but the inbox changes by it. */
export const isDelivery = ({ req }: Context): boolean => req.method === 'POST' && INBOX.test(req.path);

export type ControlAccess = ReturnType<typeof controlAccess>;

/**
 * `mayRead` takes the token or a browser's session, `mayChange` the token alone. The session is kept in a cookie that
 * ends with the browser. It is not the token itself, since cookies do not tell the ports of a machine apart: whoever
 * listens on another one could read it.
 */
export function controlAccess(token: string) {
  const session = createHmac('sha256', token).update('browser session').digest('base64url');
  const mayChange = (context: Context) =>
    isSame(context.req.header('authorization') ?? '', `Bearer ${token}`);
  return {
    mayChange,
    mayRead: (context: Context) =>
      mayChange(context) ||
      DESCRIPTION.test(context.req.path) ||
      isSame(getCookie(context, cookieOf(context)) ?? '', session),
    /**
     * Answers the banner's link: the browser is known from then on, and the token moves into the part of the address that
     * is never sent, from which the page's script takes it.
     */
    opened(context: Context): Response | undefined {
      if (!isSame(context.req.query('token') ?? '', token)) return undefined;
      setCookie(context, cookieOf(context), session, {
        path: '/_rewards',
        httpOnly: true,
        sameSite: 'Strict',
      });
      context.header('cache-control', 'no-store');
      context.header('referrer-policy', 'no-referrer');
      return context.redirect(`${withoutToken(context)}#token=${token}`, 303);
    },
  };
}

/** The same address for a browser that has come in; the console where it named nothing else. */
function withoutToken({ req }: Context): string {
  const { pathname, searchParams } = new URL(req.url);
  searchParams.delete('token');
  const path = /^\/_rewards\/console(?:\/|$)/.test(pathname) ? pathname : '/_rewards/';
  return searchParams.size === 0 ? path : `${path}?${searchParams}`;
}

/** Stacks on other ports of this machine have cookies of their own. */
const cookieOf = (context: Context) => `rewards-control-${new URL(context.req.url).port || '80'}`;

function isSame(sent: string, expected: string): boolean {
  const [one, other] = [Buffer.from(sent), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
