/** Brands, their rules and their keys, for people. */
import type { BrandDetail, BrandSummary, NewKey, ShownRule } from '../../contract/control/brands.ts';
import type { BoardHistory } from '../../contract/control/history.ts';
import type { Funding } from '../../contract/control/mints.ts';
import { formatDuration } from '../../lib/duration.ts';
import { areBoundedBySpending } from '../../rules/brands/pays-without-key.ts';
import { brandSpec, rowsOf } from '../../rules/brands/spec.ts';
import { isObject } from '../service/assignments.ts';
import type { Style } from '../terminal/style.ts';
import { waitingMintText } from './mint.ts';

/** `0xa0ee…  Demo  demo.example  999900 RWT left`. */
export function brandLine({ brandId, name, domains, automation, funds }: BrandSummary, style: Style): string {
  return [
    brandId,
    style.bold(name),
    domains.join(', '),
    `${funds.available} RWT left`,
    ...(automation ? [] : [style.yellow('automation off')]),
  ].join('  ');
}

export function brandText(brand: BrandDetail, style: Style): string {
  const { brandId, name, provenDomains, funds } = brand;
  const row = (label: string, text: string) => `  ${style.dim(label.padEnd(12))}  ${text}`;
  const byDns = provenDomains.length > 0 ? [row('by DNS', provenDomains.join(', '))] : [];
  const shown: Readonly<Record<string, unknown>> = { ...brand };
  const settings = rowsOf(brandSpec).flatMap(([setting, { kind, label = setting, unit }]) => {
    const text = settingText(shown[setting] ?? durationText(kind, shown[`${setting}Ms`]), style);
    if (setting === 'brandId' || setting === 'name' || text === '') return [];
    const said = row(label, unit ? `${text} ${unit}` : text);
    return setting === 'domains' ? [said, ...byDns] : said;
  });
  return [
    `${style.bold(name)}  ${brandId}`,
    ...settings,
    ...brand.warnings.map((warning) => `  ${style.yellow('warning')}  ${warning}`),
    ...keylessRows(brand, style),
    ...(brand.gasWallet ? [row('gas wallet', gasWalletText(brand.gasWallet))] : []),
    row('escrow', `${funds.deposited} RWT, ${funds.promised} promised, ${funds.available} left`),
    ...brand.spending.map(({ span, limit, spent, endsAt }) =>
      row(
        `this ${span}`,
        `${spent} of ${limit} RWT spent, until ${endsAt}${spent >= limit ? `  ${style.red('none left')}` : ''}`,
      ),
    ),
    ...brand.keys.map(({ keyId, createdAt, expiresAt }) =>
      row('key', `${keyId}  since ${createdAt}${expiresAt === null ? '' : `, until ${expiresAt}`}`),
    ),
    ...rulesTable(brand.rules, style),
  ].join('\n');
}

/** What strangers are paid, and what bounds it. */
function keylessRows({ paysWithoutKey, spendPerHour, spendPerDay }: BrandDetail, style: Style): string[] {
  if (paysWithoutKey.length === 0) return [];
  const isLimited = spendPerHour !== null || spendPerDay !== null;
  const ofLimits = isLimited
    ? 'within its spend limit'
    : style.yellow('without a spend limit: set spendPerHour');
  const most = areBoundedBySpending(paysWithoutKey) ? ofLimits : 'only what it has paid its users before';
  return [
    `  ${style.dim('pays without a key')}  ${most}`,
    ...paysWithoutKey.map(
      ({ pays, text, closedBy }) => `    ${style.dim(pays.padEnd(11))}  ${text}; ${closedBy} ends it`,
    ),
  ];
}

const durationText = (kind: string, ms: unknown) =>
  kind === 'duration' && typeof ms === 'number' ? formatDuration(ms) : null;

/** Empty for a setting that is not set. */
function settingText(value: unknown, style: Style): string {
  if (typeof value === 'boolean') return value ? style.green('on') : style.yellow('off');
  if (Array.isArray(value)) return value.join(', ');
  if (isObject(value)) {
    return Object.entries(value)
      .map(([key, one]) => `${key} ${one}`)
      .join(', ');
  }
  return value === null ? '' : String(value);
}

const gasWalletText = ({ address, ready }: { address: string; ready: boolean }) =>
  ready
    ? address
    : `${address} (not ready: it needs native currency and its role: rewards contracts grant perks.RELAYER_ROLE ${address})`;

/** A limit that was set by default is told, with the way to another one. */
export function spendDefaultLines(
  { brandId, spendPerHour }: BrandDetail,
  given: Readonly<Record<string, unknown>>,
  style: Style,
): string[] {
  if (spendPerHour === null || given.spendPerHour !== undefined) return [];
  return [
    style.yellow(
      `its events and streaks pay at most ${spendPerHour} RWT an hour together, the default in production`,
    ),
    style.dim(`  rewards brand set ${brandId} spendPerHour=5000, or spendPerHour=none for no limit`),
  ];
}

export const ruleText = (rule: ShownRule, style: Style): string => rulesTable([rule], style).join('\n');

/** The API key, which is shown only once. */
export function newKeyLines({ keyId, apiKey, othersExpireAt }: NewKey, style: Style): string[] {
  return [
    `${style.bold('API key')}  ${apiKey}`,
    style.dim(`  ${keyId}; shown only now: store it with your secrets`),
    ...(othersExpireAt === null ? [] : [style.dim(`  the earlier keys work until ${othersExpireAt}`)]),
  ];
}

const HEAD = ['event', 'reward', 'per user', 'all users', 'cooldown', ''];

function rulesTable(rules: readonly ShownRule[], style: Style): string[] {
  if (rules.length === 0)
    return [`  ${style.dim('no rules yet: rewards brand rule <brand> <event> --reward <rwt>')}`];
  const rows = rules.map(cells);
  const widths = HEAD.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: string[]) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  return [style.dim(line(HEAD)), ...rows.map(line)];
}

/** The columns of one rule; settings without a column of their own share the last one. */
function cells(rule: ShownRule): string[] {
  const { eventType, reward, maxClaims, maxTotalClaims, cooldownMs, ...rest } = rule;
  const {
    active,
    perUsd,
    maxReward,
    multiplier,
    channels,
    urlPatterns,
    successSelectors,
    method: _,
    ...others
  } = rest;
  const limit = (most: number) => (most === -1 ? 'no limit' : String(most));
  const most = maxReward === null ? '' : `, at most ${maxReward}`;
  const extras = [
    ...(active ? [] : ['off']),
    ...(perUsd === null ? [] : [`${perUsd} RWT per dollar${most}`]),
    ...(multiplier === 'streak' ? ['times streak'] : []),
    ...channels,
    ...urlPatterns,
    ...successSelectors,
    ...Object.entries<unknown>(others).flatMap(([setting, value]) =>
      value === null || String(value) === '' ? [] : [`${setting} ${value}`],
    ),
  ];
  return [
    eventType,
    `${reward} RWT`,
    limit(maxClaims),
    limit(maxTotalClaims),
    cooldownMs === 0 ? 'none' : formatDuration(cooldownMs),
    extras.join(', '),
  ];
}

/** What became of a mint, and what the operator can do. */
export function fundingText({ state, amount, brandId, key, transaction }: Funding, style: Style): string {
  if (state === 'deposited') return `${style.green('deposited')} ${amount} RWT for ${brandId}`;
  if (state === 'recorded')
    return `${style.green('recorded')} ${amount} RWT for ${brandId}, minted in ${key}`;
  return waitingMintText({ what: `${amount} RWT for ${brandId}`, transaction }, style);
}

/** Who leads, a line each, with what they had on the boards before. */
export function boardsText({ boards, users, period, metric }: BoardHistory, style: Style): string {
  if (users.length === 0) return style.dim('nobody is on a board yet');
  const days = boards.map(({ startsAt }) => startsAt.slice(0, 10));
  const line = (cells: string[], name: string) =>
    [...cells.map((cell) => cell.padStart(10)), name].join('  ');
  return [
    style.dim(line(days, `${metric}, each ${period}`)),
    ...users.map(({ user, values }) => line(values.map(String), user)),
  ].join('\n');
}
