/** What a setting of `rewards start` is: a row of the table, how a row is built, the kinds that only `start` has, and the checks of form that rows share. */
import { isIP } from 'node:net';
import type { Kind, Setting } from '../lib/setting.ts';
import type { Problem } from './start-errors.ts';

/** What is wrong with a setting's value, and what to do about it; both without capital and full stop. */
export interface Fault {
  message: string;
  fix: string;
}

export const fault = (message: string, fix: string): Fault => ({ message, fix });

/** An address, or a network such as `10.1.0.0/16`; none that names an interface of this machine. */
export function isNetworkOrAll(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** The same without a network of everything. */
export const isNetwork = (text: string): boolean => isNetworkOrAll(text) && !/\/0+$/.test(text);

/** A network so large that it holds strangers: larger than 10.0.0.0/8 and fc00::/7, the largest that anybody owns. */
export function holdsStrangers(text: string): boolean {
  const [address = '', bits] = text.split('/');
  return bits !== undefined && Number(bits) < (isIP(address) === 4 ? 8 : 7);
}

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const HOST_NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`);

/** A name as DNS has them, without scheme, port, path and last dot. */
const isHostName = (text: string): boolean => HOST_NAME.test(text);

/** Where a server may listen: an address, or a name that leads to one. */
export const isBindAddress = (text: string): boolean => isIP(text) !== 0 || isHostName(text);

/** Why a URL's host name is not one, with the name in it. */
export function hostNameFault(name: string, text: string): Fault[] {
  if (isHostName(text)) return [];
  const message = `${name}: ${text} is not a host name`;
  const withScheme = text.includes('://') ? text : `https://${text}`;
  const inside = URL.canParse(withScheme) ? new URL(withScheme).hostname : '';
  return [
    fault(
      message,
      isHostName(inside)
        ? `write ${inside}, without scheme, port and path`
        : 'write a name such as rewards.example',
    ),
  ];
}

/** A path that stands in front of others: `/rewards-api`, `/v1/rewards`. */
export const isPathPrefix = (text: string): boolean => /^(?:\/[A-Za-z0-9._~-]+)+$/.test(text);

/** Two spellings of one web address are equal in this form: the same node twice is one node. */
export function sameAddress(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, hostname, port, pathname, search } = new URL(url);
  const host = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ? 'this machine' : hostname;
  const at = port || (protocol === 'https:' ? '443' : '80');
  return `${host}:${at}${pathname.replace(/\/+$/, '')}${search}`;
}

export type Worker = 'api' | 'outbox';

/** The values that the rows of other settings ask for. */
export interface Others {
  workers: readonly Worker[];
  identity: string;
  payments: string;
  stripeMode: string;
  allowSqlite: boolean;
  allowSingleRpc: boolean;
  allowPlainRpc: boolean;
  allowPlainDatabase: boolean;
}

export interface StartSetting<Value> extends Setting<Value> {
  /** Required: `start` refuses to run without it. */
  needed?: true | ((config: Others) => boolean);
  /** What is wrong with a value's form, each beginning with the setting's `name`; they become an E_SETTINGS. */
  check?(value: Value, name: string, config: Others): Fault | Fault[] | undefined;
  /** Why production must not run with a well-formed value. */
  unsafe?(value: Value, config: Others): Problem | undefined;
  /** What the value names outside this program, which `start --check` asks. */
  reach?: Reach;
}

/** What settings name outside this program: a row of reach.ts says how it is asked. */
export type Reach = 'database' | 'nodes' | 'accounts' | 'prices' | 'listeners' | 'issuer' | 'processor';

export const asksApi = (config: Pick<Others, 'workers'>) => config.workers.includes('api');
export const asksOutbox = (config: Pick<Others, 'workers'>) => config.workers.includes('outbox');

type More<Value> = Omit<StartSetting<Value>, 'flag' | 'kind' | 'help'>;

/** Builds a row. Its value is always present when it has a default, is needed or is a list. */
export function setting<Value>(
  flag: string,
  kind: Kind<Value>,
  help: string,
  more: More<Value> & ({ default: string } | { needed: true }),
): StartSetting<Value>;
/** What a setting of `rewards start` is: a row of the table, the kinds that only `start` has, and how a row is built. */
export function setting(
  flag: string,
  kind: Kind<string[]>,
  help: string,
  more?: More<string[]>,
): StartSetting<string[]>;
export function setting<Value>(
  flag: string,
  kind: Kind<Value>,
  help: string,
  more?: More<Value>,
): StartSetting<Value | undefined>;
export function setting<Value>(flag: string, kind: Kind<Value>, help: string, more: More<Value> = {}) {
  return { flag, kind, help, ...more };
}

export const workers: Kind<Worker[]> = {
  parse(words) {
    const known = words.split(',').map((word) => word.trim());
    return known.every((word): word is Worker => word === 'api' || word === 'outbox') ? known : undefined;
  },
  mustBe: 'api, outbox, or api,outbox',
  late: true,
};
