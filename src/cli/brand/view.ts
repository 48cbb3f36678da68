/** Brands, their rules and their keys, for people. */
import type { BrandBody, BrandDetail, NewKeyBody, RuleBody } from '../../client/control-bodies.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { Style } from '../machine/style.ts';

/** `0xa0ee…  Demo  demo.example  999900 RWT left`. */
export function brandLine({ brandId, name, domains, automation, funds }: BrandBody, style: Style): string {
  return [
    brandId,
    style.bold(name),
    domains.join(', '),
    `${funds.available} RWT left`,
    ...(automation ? [] : [style.yellow('automation off')]),
  ].join('  ');
}

export function brandText(brand: BrandDetail, style: Style): string {
  const { brandId, name, domains, provenDomains, platforms, automation, clientBypass, funds } = brand;
  const row = (label: string, text: string) => `  ${style.dim(label.padEnd(12))}  ${text}`;
  const named = (entries: Record<string, string>) =>
    Object.entries(entries).map(([key, value]) => `${key} ${value}`);
  const optional = (label: string, parts: string[]) =>
    parts.length === 0 ? [] : [row(label, parts.join(', '))];
  return [
    `${style.bold(name)}  ${brandId}`,
    row('domains', domains.join(', ')),
    ...optional('by DNS', provenDomains),
    ...optional('platforms', named(platforms)),
    ...optional('event names', named(brand.eventNameMapping)),
    row('automation', automation ? style.green('on') : style.yellow('off')),
    row('clientBypass', clientBypass),
    row('mintTo', brand.mintTo),
    row('pregenerate', brand.pregenerate),
    ...optional('gas budget', brand.gasBudget === null ? [] : [`${brand.gasBudget} a day`]),
    ...optional('gas wallet', brand.gasWallet ? [gasWalletText(brand.gasWallet)] : []),
    row('escrow', `${funds.deposited} RWT, ${funds.promised} promised, ${funds.available} left`),
    ...brand.keys.map(({ keyId, createdAt, expiresAt }) =>
      row('key', `${keyId}  since ${createdAt}${expiresAt === null ? '' : `, until ${expiresAt}`}`),
    ),
    ...rulesTable(brand.rules, style),
  ].join('\n');
}

const gasWalletText = ({ address, ready }: { address: string; ready: boolean }) =>
  ready ? address : `${address} (not ready: it needs RELAYER_ROLE on PerkNFT and native currency)`;

export const ruleText = (rule: RuleBody, style: Style): string => rulesTable([rule], style).join('\n');

/** What a person must keep now: it is never shown again. */
export function newKeyLines({ keyId, apiKey, othersExpireAt }: NewKeyBody, style: Style): string[] {
  return [
    `${style.bold('API key')}  ${apiKey}`,
    style.dim(`  ${keyId}; shown only now, keep it where secrets are kept`),
    ...(othersExpireAt === null ? [] : [style.dim(`  the earlier keys work until ${othersExpireAt}`)]),
  ];
}

const HEAD = ['event', 'reward', 'per user', 'all users', 'cooldown', ''];

function rulesTable(rules: readonly RuleBody[], style: Style): string[] {
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

function cells(rule: RuleBody): string[] {
  const { eventType, reward, perUsd, maxReward, maxClaims, maxTotalClaims, cooldownMs } = rule;
  const limit = (most: number) => (most === -1 ? 'no limit' : String(most));
  const most = maxReward === null ? '' : `, at most ${maxReward}`;
  const extras = [
    ...(rule.active ? [] : ['off']),
    ...(perUsd === null ? [] : [`${perUsd} RWT per dollar${most}`]),
    ...(rule.multiplier === 'streak' ? ['times streak'] : []),
    ...rule.channels,
    ...rule.urlPatterns,
    ...rule.successSelectors,
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
