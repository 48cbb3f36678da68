/** Accounts: who is who, and what proves it. Contract: Authentication. */
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import { siteSettings } from '../config.ts';
import type { SiteStore } from '../store.ts';
import { type ApplicationPassword, createApplicationPasswords } from './application-passwords.ts';
import { createLoginGate } from './login-gate.ts';
import { createNonces } from './nonces.ts';
import { isOwnPage } from './own-pages.ts';
import { createSessions, readCookie, SESSION_COOKIE, VISITOR_COOKIE, writeCookie } from './sessions.ts';
import { digestOf, hashPassword, isPassword } from './stored-secrets.ts';
import { type AccountProblem, createUserStore, type NewUser } from './user-store.ts';
import type { Caller, NonceAction, SiteUser } from './users.ts';

/** `wrong` never says whether the login or the password was. `cookie`: the Set-Cookie header of the new session. */
export type LogIn =
  | { outcome: 'in'; user: SiteUser; cookie: string }
  | { outcome: 'wait'; waitMs: number }
  | { outcome: 'wrong' };

/** A program's user, by HTTP Basic. `none`: the request carries no such credentials. */
export type Program =
  | { outcome: 'in'; caller: Caller & { by: 'application_password' } }
  | { outcome: 'wait'; waitMs: number }
  | { outcome: 'wrong' }
  | { outcome: 'none' };

export interface Accounts {
  /** The browser that asks, by its cookies. */
  callerOf(request: Request): Caller;
  /** The same, and for a guest without a visitor cookie the Set-Cookie header of one: pages need it for their nonces. */
  welcome(request: Request): { caller: Caller; cookie: string | undefined };
  /** The program that asks, by its application password. `address`: whose wrong ones are counted. */
  programOf(request: Request, address: string | undefined): Program;
  /** Sessions that end in a stretch of time, the earliest first; `total` counts those beyond the limit too. */
  sessionsEnding(range: {
    afterMs: number;
    untilMs: number;
    limit: number;
  }): { atMs: number; login: string; total: number }[];
  nonceFor(caller: Caller, action: NonceAction): string;
  isNonce(caller: Caller, action: NonceAction, nonce: string): boolean;
  /** Whether a request comes from a page of this site, or from no page at all. */
  isOwnPage(request: Request): boolean;
  /** `caller`: who the browser was before; that session ends. `login`: or the e-mail. */
  logIn(wish: {
    login: string;
    password: string;
    address: string | undefined;
    caller?: Caller | undefined;
  }): Promise<LogIn>;
  /** Ends the session; returns the Set-Cookie header that takes its cookie away. */
  logOut(caller: Caller): string;
  /** A visitor makes an account; the hook `user_registered` follows. `address`: whose new accounts are counted. */
  register(
    wish: NewUser & { password: string; address?: string | undefined },
  ): Promise<{ user: SiteUser } | { problems: AccountProblem[] }>;
  /** An operator makes an account; no hook follows. */
  addUser(wish: NewUser): Promise<{ user: SiteUser } | { problems: AccountProblem[] }>;
  users(): SiteUser[];
  /** By login or e-mail. */
  findUser(name: string): SiteUser | undefined;
  /** Returns the password, which can never be read again; undefined without such a user. */
  addApplicationPassword(login: string, name: string, given?: string): string | undefined;
  listApplicationPasswords(user: SiteUser): ApplicationPassword[];
  /** Whether the user had it. */
  removeApplicationPassword(user: SiteUser, id: number): boolean;
}

interface AccountsDeps {
  store: SiteStore;
  clock: Clock;
  random: Random;
  /** Whether the address may make one more account. */
  mayRegister(address: string | undefined): boolean;
  /** What follows when a person registered or logged in. */
  onRegistered(user: SiteUser): void;
  onLoggedIn(user: SiteUser): void;
}

const TOO_MANY_ACCOUNTS: AccountProblem = {
  field: 'login',
  message: `${siteSettings.registrationsPerHour} accounts were made from your address in this hour: try again in the next.`,
};

/** `url`: where browsers find the site, with its base path. */
export function createAccounts(deps: AccountsDeps, { url }: { url: string }): Accounts {
  const users = createUserStore(deps);
  const sessions = createSessions(deps);
  const passwords = createApplicationPasswords(deps);
  const gate = createLoginGate(deps);
  const nonces = createNonces(deps);
  const logIn = createLogIn(deps, { users, sessions, gate, url });

  function callerOf(request: Request): Caller {
    const id = readCookie(request, SESSION_COOKIE);
    const userId = id === undefined ? undefined : sessions.userIdOf(id);
    const user = userId === undefined ? undefined : users.byId(userId);
    if (user && id !== undefined) return { by: 'session', user, nonceKey: digestOf(id) };
    const visitor = readCookie(request, VISITOR_COOKIE);
    return { by: 'guest', nonceKey: visitor === undefined ? '' : digestOf(visitor) };
  }

  return {
    callerOf,
    welcome(request) {
      const caller = callerOf(request);
      if (caller.by !== 'guest' || caller.nonceKey !== '') return { caller, cookie: undefined };
      const value = Buffer.from(deps.random.bytes(32)).toString('base64url');
      const cookie = writeCookie(url, { name: VISITOR_COOKIE, value, maxAgeMs: siteSettings.sessionMs });
      return { caller: { by: 'guest', nonceKey: digestOf(value) }, cookie };
    },
    programOf(request, address) {
      const sent = basicCredentials(request);
      if (!sent) return { outcome: 'none' };
      const found = users.find(sent.login);
      // 139 random bits cannot be guessed, so a right password never waits, and others' guesses keep no program out.
      if (found && passwords.isOf(found.user.id, sent.password))
        return { outcome: 'in', caller: { by: 'application_password', user: found.user } };
      // Counted apart from logins: a program with an old password keeps no people of its office out.
      const keys = gateKeys(found?.user, sent.login, address).map((key) => `program ${key}`);
      const waitMs = gate.enter(keys);
      return waitMs > 0 ? { outcome: 'wait', waitMs } : { outcome: 'wrong' };
    },
    ...nonces,
    sessionsEnding: sessions.ending,
    isOwnPage: (request) => isOwnPage(request, url),
    logIn,
    logOut(caller) {
      if (caller.by === 'session') sessions.end(caller.nonceKey);
      return writeCookie(url, { name: SESSION_COOKIE, value: '', maxAgeMs: 0 });
    },
    async register({ address, ...wish }) {
      if (!deps.mayRegister(address)) return { problems: [TOO_MANY_ACCOUNTS] };
      const made = await users.add({ ...wish, role: 'subscriber' });
      if ('user' in made) deps.onRegistered(made.user);
      return made;
    },
    addUser: users.add,
    users: users.all,
    findUser: (name) => users.find(name)?.user,
    addApplicationPassword(login, name, given) {
      const user = users.find(login)?.user;
      return user && passwords.add(user.id, name, given);
    },
    listApplicationPasswords: (user) => passwords.list(user.id),
    removeApplicationPassword: (user, id) => passwords.remove(user.id, id),
  };
}

/** The account first. An account has one key, whichever of its names is used. */
function gateKeys(
  user: SiteUser | undefined,
  login: string,
  address: string | undefined,
): [string, ...string[]] {
  const account = user ? `user ${user.id}` : `login ${digestOf(login.trim().toLowerCase())}`;
  return address === undefined ? [account] : [account, `address ${address}`];
}

function createLogIn(
  deps: AccountsDeps,
  parts: {
    users: ReturnType<typeof createUserStore>;
    sessions: ReturnType<typeof createSessions>;
    gate: ReturnType<typeof createLoginGate>;
    url: string;
  },
): Accounts['logIn'] {
  const { users, sessions, gate, url } = parts;
  /** Compared with when the user does not exist, so that the answer takes as long. */
  let nobodysHash: Promise<string> | undefined;
  return async ({ login, password, address, caller }) => {
    nobodysHash ??= hashPassword(Buffer.from(deps.random.bytes(16)).toString('hex'));
    const noHash = await nobodysHash;
    const found = users.find(login);
    const keys = gateKeys(found?.user, login, address);
    const waitMs = gate.enter(keys);
    if (waitMs > 0) return { outcome: 'wait', waitMs };
    const isRight = await isPassword(password, found?.passwordHash ?? noHash);
    if (!isRight || !found?.passwordHash) return { outcome: 'wrong' };
    gate.passed(keys[0], keys);
    if (caller?.by === 'session') sessions.end(caller.nonceKey);
    const value = sessions.begin(found.user.id);
    deps.onLoggedIn(found.user);
    const cookie = writeCookie(url, { name: SESSION_COOKIE, value, maxAgeMs: siteSettings.sessionMs });
    return { outcome: 'in', user: found.user, cookie };
  };
}

function basicCredentials(request: Request): { login: string; password: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=_-]*)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1
    ? { login: text, password: '' }
    : { login: text.slice(0, colon), password: text.slice(colon + 1) };
}
