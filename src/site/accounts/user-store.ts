/** Users in the site's store. */
import type { Clock } from '../../lib/clock.ts';
import type { SiteStore } from '../store.ts';
import { hashPassword } from './stored-secrets.ts';
import { isEmail, type Role, type SiteUser } from './users.ts';

interface Row {
  id: number;
  login: string;
  email: string;
  display_name: string;
  role: Role;
  password_hash: string | null;
}

export interface NewUser {
  login: string;
  email: string;
  displayName: string;
  /** Without one only application passwords let the user in. */
  password?: string | undefined;
  role?: Role | undefined;
}

/** A field of a registration that will not do: what, why, and how to mend it. */
export interface AccountProblem {
  field: 'login' | 'email' | 'displayName' | 'password';
  message: string;
}

const LOGIN = /^[a-z0-9][a-z0-9._-]{1,39}$/i;
const NAME_MAX = 60;
const PASSWORD_MIN = 8;
/** A longer one is not safer, and hashing it costs time. */
const PASSWORD_MAX = 200;
/** Characters that show nothing, or turn the text around them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function createUserStore({ store, clock }: { store: SiteStore; clock: Clock }) {
  const byName = store.prepare<[string, string], Row>('select * from users where login = ? or email = ?');
  const byId = store.prepare<[number], Row>('select * from users where id = ?');
  const insert = store.prepare<[string, string, string, Role, string | null, number]>(
    `insert into users (login, email, display_name, role, password_hash, created_at) values (?, ?, ?, ?, ?, ?)
     on conflict do nothing`,
  );
  return {
    /** By login or e-mail; neither has case. */
    find(name: string): { user: SiteUser; passwordHash: string | null } | undefined {
      const row = byName.get(name.trim(), name.trim());
      return row && { user: userIn(row), passwordHash: row.password_hash };
    },
    byId(id: number): SiteUser | undefined {
      const row = byId.get(id);
      return row && userIn(row);
    },
    all: (): SiteUser[] => store.prepare<[], Row>('select * from users order by id').all().map(userIn),
    async add(wanted: NewUser): Promise<{ user: SiteUser } | { problems: AccountProblem[] }> {
      const user = { ...wanted, login: wanted.login.trim(), email: wanted.email.trim().toLowerCase() };
      const displayName = user.displayName.replace(INVISIBLE, '').trim() || user.login;
      const problems = problemsOf({ ...user, displayName });
      if (problems.length > 0) return { problems };
      const hash = user.password === undefined ? null : await hashPassword(user.password);
      const made = insert.run(
        user.login,
        user.email,
        displayName,
        user.role ?? 'subscriber',
        hash,
        clock.now(),
      );
      const row = byId.get(Number(made.lastInsertRowid));
      return made.changes === 1 && row ? { user: userIn(row) } : { problems: taken(user) };
    },
  };

  function taken({ login, email }: NewUser): AccountProblem[] {
    const rows = byName.all(login, email);
    const isLogin = rows.some((row) => row.login.toLowerCase() === login.toLowerCase());
    return isLogin
      ? [{ field: 'login', message: `The login ${login} is taken: choose another one.` }]
      : [{ field: 'email', message: `There is an account with ${email}: log in with it.` }];
  }
}

const userIn = (row: Row): SiteUser => ({
  id: row.id,
  login: row.login,
  email: row.email,
  displayName: row.display_name,
  role: row.role,
});

function problemsOf({ login, email, displayName, password }: NewUser): AccountProblem[] {
  const problems: AccountProblem[] = [];
  if (!LOGIN.test(login))
    problems.push({
      field: 'login',
      message:
        'A login has 2 to 40 letters, digits, dots, hyphens and underscores, and starts with a letter or digit.',
    });
  if (!isEmail(email))
    problems.push({
      field: 'email',
      message: 'This is not an e-mail address: write one such as ada@mail.example.',
    });
  if (displayName.length > NAME_MAX)
    problems.push({ field: 'displayName', message: `A name has at most ${NAME_MAX} characters.` });
  if (password !== undefined && (password.length < PASSWORD_MIN || password.length > PASSWORD_MAX))
    problems.push({
      field: 'password',
      message: `A password has ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.`,
    });
  return problems;
}
