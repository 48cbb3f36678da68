/** `rewards site fire|test|user`. */

import type { FiredHook, SiteUser } from '../../contract/control/site.ts';
import * as siteApi from '../../contract/control/site.ts';
import type { Handler } from '../machine/context.ts';
import { type Problem, problemOf, usageError } from '../machine/errors.ts';
import { readInput } from '../machine/read-input.ts';
import { assign, type JsonObject, parseAssignment } from '../service/assignments.ts';
import { asks } from '../service/control.ts';
import { replyResult } from '../service/control-reply.ts';
import { callFor } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

export const fireHook: Handler<{ hook: string; user: string; set?: string[] }> = async (context, options) => {
  const { hook, user } = options;
  const metadata = metadataOf(options.set ?? []);
  const call = await callFor(context);
  const reply = await call(siteApi.fireSiteHook, {
    path: { hook },
    body: { user, ...(metadata && { metadata }) },
  });
  const result = replyResult(reply, {
    text: firedText,
  });
  const problem = result.ok ? noOf(reply.body) : undefined;
  if (!problem) return result;
  const text = reply.body.calls.length > 0 ? { text: firedTextOf(reply.body, problem) } : {};
  return { ok: false, data: result.data, error: problem, ...text };
};

const firedTextOf =
  (body: FiredHook, problem: Problem): ((style: Parameters<typeof firedText>[1]) => string) =>
  (style) =>
    `${firedText(body, style)}\n${style.dim(problem.fix)}`;

/** An event that was refused, or none that was sent. */
function noOf({ hook, user, events, calls }: FiredHook): Problem | undefined {
  const failed = calls.filter(({ success }) => !success);
  if (calls.length > 0 && failed.length === 0) return undefined;
  const [first] = failed;
  if (first) {
    return problemOf('E_REFUSED', {
      message: `${first.eventName} was not rewarded: ${first.message}`,
      fix: '`rewards requests explain latest` names each check of the service.',
      details: { calls: failed },
    });
  }
  if (events.length === 0) {
    return problemOf('E_REFUSED', {
      message: `Nothing was sent: no enabled event follows ${hook}.`,
      fix: "Enable one on the site's settings page (/admin/settings), as an administrator.",
      details: { hook, events },
    });
  }
  return problemOf('E_REFUSED', {
    message: `Nothing was sent: the site sends ${events.join(', ')} of ${user} at most once in 24 hours.`,
    fix: 'It passes after `rewards clock advance 24h`.',
    retryable: true,
    details: { hook, events },
  });
}

/** `metadata.order_total=20` and the like; nothing else can be set. */
function metadataOf(texts: readonly string[]): JsonObject | undefined {
  if (texts.length === 0) return undefined;
  const set = texts.map((text) => parseAssignment(text, { asText: false }));
  const wrong = set.findIndex(({ path }) => path[0] !== 'metadata' || path.length < 2);
  if (wrong !== -1) {
    throw usageError(
      `--set ${texts[wrong]} does not name a field of metadata.`,
      'Write it as --set metadata.order_total=20.',
    );
  }
  return assign({}, set).metadata as JsonObject;
}

export const testSite: Handler<{ user?: string; event?: string }> = async (context, options) => {
  const call = await callFor(context);
  const reply = await call(siteApi.testSite, { body: { email: options.user, eventName: options.event } });
  const result = replyResult(reply, {
    text: (body, style) => callLine(body, body.email, style),
  });
  if (!result.ok || reply.body.success) return result;
  const { email, eventName, status, message } = reply.body;
  return {
    ok: false,
    data: result.data,
    error: problemOf('E_REFUSED', {
      message: `The test event ${eventName} for ${email} failed${status > 0 ? ` with ${status}` : ''}: ${message}`,
      fix: 'Correct it on the settings page of the site, or on the brand; `rewards requests explain latest` names each check.',
      details: { call: reply.body },
    }),
  };
};

export const listUsers = asks(siteApi.listSiteUsers, {
  text: ({ users }, style) => users.map((user) => userLine(user, style)).join('\n') || 'no users yet',
});

interface NewUser {
  login: string;
  email: string;
  displayName?: string;
  passwordFile?: string;
  role: 'administrator' | 'subscriber';
}

const userLine = ({ login, email, displayName, role }: SiteUser, style: Style): string =>
  [
    style.bold(login.padEnd(12)),
    email,
    ...(displayName === login ? [] : [displayName]),
    ...(role === 'administrator' ? [style.cyan(role)] : []),
  ].join('  ');

export const addUser = asks(siteApi.addSiteUser, {
  request: async ({ passwordFile, login, email, displayName, role }: NewUser, { runtime }) => {
    const text = passwordFile === undefined ? undefined : await readInput(runtime, passwordFile);
    const password = text?.replace(/\r?\n$/, '');
    return { body: { login, email, displayName, role, password } };
  },
  text: userLine,
});

export const addApplicationPassword: Handler<{ user: string; for: string }> = async (context, options) => {
  const call = await callFor(context);
  const reply = await call(siteApi.addSiteApplicationPassword, {
    path: { login: options.user },
    body: { name: options.for },
  });
  const result = replyResult(reply, { text: ({ password }) => password });
  if (result.ok)
    context.note(`a password of ${reply.body.login} for ${reply.body.name}; it is not shown again`);
  return result;
};

type Call = FiredHook['calls'][number];

/** One event: what it earned, or why it was refused. */
function callLine({ success, status, eventName, message, reward }: Call, user: string, style: Style) {
  const { green, red, bold } = style;
  const outcome = success
    ? green(reward === null ? String(status) : `+${reward} RWT`)
    : red(status > 0 ? String(status) : 'no answer');
  return [outcome, bold(eventName), user, ...(message === '' ? [] : [message])].join('  ');
}

const firedText = ({ user, calls }: FiredHook, style: Style): string =>
  calls.map((call) => callLine(call, user, style)).join('\n');
