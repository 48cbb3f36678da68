/** Application passwords: what a program sends with each request, in place of a session. */
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import type { SiteStore } from '../store.ts';
import { digestOf } from './stored-secrets.ts';

export interface ApplicationPassword {
  id: number;
  name: string;
  createdAtMs: number;
}

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const LENGTH = 24;
const NAME_MAX = 60;

export function createApplicationPasswords(deps: { store: SiteStore; clock: Clock; random: Random }) {
  const { store, clock } = deps;
  const insert = store.prepare<[number, string, string, number]>(
    `insert into application_passwords (user_id, name, digest, created_at) values (?, ?, ?, ?)
     on conflict (digest) do nothing`,
  );
  const has = store.prepare<[number, string], { id: number }>(
    'select id from application_passwords where user_id = ? and digest = ?',
  );
  const list = store.prepare<[number], ApplicationPassword>(
    'select id, name, created_at as createdAtMs from application_passwords where user_id = ? order by id',
  );
  const remove = store.prepare<[number, number]>(
    'delete from application_passwords where user_id = ? and id = ?',
  );
  return {
    /** Returns the password, which cannot be read again; `given` for passwords that a fixture has written down. */
    add(userId: number, name: string, given?: string): string {
      const password = given ?? newPassword(deps.random);
      insert.run(
        userId,
        name.trim().slice(0, NAME_MAX) || 'unnamed',
        digestOfPassword(password),
        clock.now(),
      );
      return password;
    },
    isOf: (userId: number, password: string): boolean =>
      has.get(userId, digestOfPassword(password)) !== undefined,
    list: (userId: number): ApplicationPassword[] => list.all(userId),
    /** Whether the user had it. */
    remove: (userId: number, id: number): boolean => remove.run(userId, id).changes === 1,
  };
}

/** Blanks are for people to read it by. */
const digestOfPassword = (password: string) => digestOf(password.replace(/\s/g, ''));

/** 24 letters in groups of four: 139 random bits. */
function newPassword(random: Random): string {
  let letters = '';
  while (letters.length < LENGTH) {
    // A byte above the last whole round of letters would make the first ones likelier.
    for (const byte of random.bytes(LENGTH))
      if (byte < 256 - (256 % LETTERS.length) && letters.length < LENGTH)
        letters += LETTERS[byte % LETTERS.length];
  }
  return letters.replace(/.{4}(?=.)/g, '$& ');
}
