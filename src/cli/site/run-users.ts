/** `rewards site user list|add|app-password`. */
import { addSiteApplicationPassword, addSiteUser, listSiteUsers } from '../../contract/control/site.ts';
import type { Handler } from '../machine/context.ts';
import { readInput } from '../machine/read-input.ts';
import { replyResult } from '../service/control-reply.ts';
import { callFor } from '../service/target.ts';
import { userLine } from './view.ts';

export const listUsers: Handler<object> = async (context) => {
  const call = await callFor(context);
  return replyResult(await call(listSiteUsers), {
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
  const call = await callFor(context);
  return replyResult(await call(addSiteUser, { body: { ...user, password } }), { text: userLine });
};

export const addApplicationPassword: Handler<{ user: string; for: string }> = async (context, options) => {
  const call = await callFor(context);
  const reply = await call(addSiteApplicationPassword, {
    path: { login: options.user },
    body: { name: options.for },
  });
  const result = replyResult(reply, { text: ({ password }) => password });
  if (result.ok)
    context.note(`a password of ${reply.body.login} for ${reply.body.name}; it is not shown again`);
  return result;
};
