/** `rewards site user list|add|app-password`. */
import type { Handler } from '../machine/context.ts';
import { readInput } from '../machine/read-input.ts';
import { isObject } from '../service/assignments.ts';
import { replyResult } from '../service/control-reply.ts';
import { siteOf } from './run.ts';
import { userLine } from './view.ts';

export const listUsers: Handler<object> = async (context) => {
  const site = await siteOf(context);
  return replyResult(await site.users(), {
    hasRightForm: (body) => isObject(body) && Array.isArray(body.users),
    text: ({ users }, style) => users.map((user) => userLine(user, style)).join('\n') || 'no users yet',
  });
};

interface NewUser {
  login: string;
  email: string;
  displayName?: string;
  passwordFile?: string;
  role: 'administrator' | 'subscriber';
}

export const addUser: Handler<NewUser> = async (context, { passwordFile, ...user }) => {
  const text = passwordFile === undefined ? undefined : await readInput(context.runtime, passwordFile);
  const password = text?.replace(/\r?\n$/, '');
  const site = await siteOf(context);
  return replyResult(await site.addUser({ ...user, password }), { hasRightForm: hasLogin, text: userLine });
};

export const addApplicationPassword: Handler<{ user: string; for: string }> = async (context, options) => {
  const site = await siteOf(context);
  const reply = await site.addApplicationPassword(options.user, options.for);
  const result = replyResult(reply, { hasRightForm: hasLogin, text: ({ password }) => password });
  if (result.ok)
    context.note(`a password of ${reply.body.login} for ${reply.body.name}; it is not shown again`);
  return result;
};

const hasLogin = (body: unknown) => isObject(body) && typeof body.login === 'string';
