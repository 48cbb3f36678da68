/** Reads what a control call about constraints wants, or tells everything that is wrong with it. */
import type { SettingProblem, Settings } from '../../../rules/brands/settings.ts';
import {
  constraintUrlKey,
  LEVEL_MAX,
  ROLE_MAX,
  refuseConstraintUrl,
} from '../../../rules/constraints/constraint.ts';
import { knownPlatform, platformName, platformNames } from '../../../rules/platforms.ts';

type Read<Wish> = Wish | { problems: SettingProblem[] };

/** A chat rarely has more, and nobody writes them by hand. */
const ROLES_MAX = 100;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Collects the problems of one body. */
function reader(settings: Settings, known: readonly string[]) {
  const problems: SettingProblem[] = Object.keys(settings)
    .filter((name) => !known.includes(name))
    .map((setting) => ({ setting, message: `is unknown; there are ${known.join(', ')}` }));
  const wrong = (setting: string, message: string) => void problems.push({ setting, message });
  return {
    problems,
    wrong,
    text(setting: string, isRequired: boolean): string | undefined {
      const value = settings[setting];
      if (typeof value === 'string' && value.trim() !== '') return value.trim();
      if (value !== undefined || isRequired)
        wrong(setting, value === undefined ? 'is required' : 'must be a text');
      return undefined;
    },
    whole(setting: string, most: number): number | undefined {
      const value = settings[setting];
      if (value === undefined) return undefined;
      const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
      if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 && number <= most)
        return number;
      wrong(setting, `must be a whole number from 0 to ${most}`);
      return undefined;
    },
  };
}

/** The wish, unless something is wrong with it: then all that is. */
const orProblems = <Wish>(problems: SettingProblem[], wish: Wish): Read<Wish> =>
  problems.length > 0 ? { problems } : wish;

export function readCheck(settings: Settings): Read<{ brand: string; perk: string; user: string }> {
  const { problems, wrong, text } = reader(settings, ['brand', 'perk', 'user']);
  const [brand = '', perk = '', user = ''] = ['brand', 'perk', 'user'].map((name) => text(name, true));
  if (perk !== '' && !UUID.test(perk)) wrong('perk', 'must be the id of a perk, a UUID');
  return orProblems(problems, { brand, perk, user });
}

export function readInvalidation(
  settings: Settings,
): Read<{ brand: string; url: string; user?: string | undefined; tokenId?: number | undefined }> {
  const { problems, wrong, text, whole } = reader(settings, ['brand', 'url', 'user', 'tokenId']);
  const [brand = '', given = ''] = ['brand', 'url'].map((name) => text(name, true));
  const user = text('user', false);
  const tokenId = whole('tokenId', Number.MAX_SAFE_INTEGER);
  const refused = given === '' ? undefined : refuseConstraintUrl(given);
  if (refused) wrong('url', refused);
  return orProblems(problems, { brand, url: constraintUrlKey(given) ?? '', user, tokenId });
}

export function readStandingChange(settings: Settings): Read<{
  brand: string;
  platform: string;
  user: string;
  level?: number | undefined;
  roles?: string[] | undefined;
}> {
  const { problems, wrong, text, whole } = reader(settings, ['brand', 'platform', 'user', 'level', 'roles']);
  const [brand = '', named = '', user = ''] = ['brand', 'platform', 'user'].map((name) => text(name, true));
  const platform = platformName(named);
  if (named !== '' && !knownPlatform(platform))
    wrong('platform', `must be one of ${platformNames.join(', ')}`);
  const level = whole('level', LEVEL_MAX);
  const { roles } = settings;
  const isRole = (role: unknown) => typeof role === 'string' && role !== '' && role.length <= ROLE_MAX;
  if (roles !== undefined && !(Array.isArray(roles) && roles.length <= ROLES_MAX && roles.every(isRole)))
    wrong('roles', `must be a list of at most ${ROLES_MAX} ids or names of roles`);
  else if (roles === undefined && settings.level === undefined) wrong('level', 'or roles is required');
  return orProblems(problems, { brand, platform, user, level, roles: roles as string[] | undefined });
}
