/** The banner of a stack that is ready: addresses, keys, and commands to try first; then its log, a line each. */

import type { Ready } from '../../stack/ready.ts';
import { manifest } from '../machine/manifest.ts';
import { changeLines } from '../setup/seed.ts';
import type { Style } from '../terminal/style.ts';
import { wrapWords } from '../terminal/wrap.ts';

/** Where a terminal does not tell its width. */
const COLUMNS = 100;
/** Where the values begin. */
const INDENT = 12;

/** Builds the banner; `style` decides about colours, `program` is what was typed to start this. */
export function banner(
  ready: Ready,
  look: { style: Style; tookMs: number; ephemeral: boolean; program?: string; columns?: number | undefined },
): string {
  const { style, tookMs, ephemeral, program = 'rewards', columns = COLUMNS } = look;
  const { bold, dim, cyan, green } = style;
  const row = (name: string, ...cells: string[]) =>
    wrapWords(`  ${bold(name.padEnd(INDENT - 2))}${cells.join('   ')}`, columns, INDENT);
  const rows = (name: string, lines: readonly string[]) =>
    lines.map((line, index) => row(index === 0 ? name : '', line));
  const { urls } = ready;
  const head = [
    bold(`rewards ${manifest.version}`),
    `${green('emulator ready')} in ${(tookMs / 1_000).toFixed(1)}s`,
    dim(`clock ${ready.clock}`),
  ];
  const lines = [
    wrapWords(head.join('  '), columns, 2),
    '',
    row('API', cyan(`${urls.events}/rewards-api`)),
    ...(urls.relay === urls.events ? [] : [row('Relay', cyan(`${urls.relay}/relay`))]),
    ...(urls.register === urls.events ? [] : [row('Register', cyan(`${urls.register}/rewards-api`))]),
    ...(urls.services === urls.events ? [] : [row('Services', cyan(urls.services))]),
    row('Site', cyan(urls.site), ...loginCells(ready.users)),
    row('Docs', cyan(`${urls.events}/docs`)),
    row('Control', cyan(`${urls.control}?token=${ready.controlToken}`)),
    row('RPC', cyan(urls.rpc), `chain ${ready.chain.id}`),
    row('Processor', cyan(ready.processor.url), `Stripe's API   key ${ready.processor.secretKey}`),
    row('', `webhook secret ${ready.processor.webhookSecret}`),
    row('Data', ephemeral ? 'dropped at the end' : `${ready.dataDir} (kept; --ephemeral to drop)`),
    ...rows('Seed', seedLines(ready.seedChanges ?? [], style)),
    '',
    ...brandRows(ready, row),
    ...rows(
      'Users',
      ready.users.map(({ email, address }) => `${email}   ${address}`),
    ),
    ...rows('Contracts', contractLines(ready.contracts)),
    row('', dim('well-known test keys: never fund them on a real chain')),
    ...tryLines(ready, { program, row }),
  ];
  return `${lines.join('\n')}\n`;
}

type Row = (name: string, ...cells: string[]) => string;

/** The brand that commands take when none is named, and its secrets, where it has any. */
function brandRows({ brands }: Ready, row: Row): string[] {
  const [brand, ...others] = brands;
  if (!brand) return [row('Brand', 'none yet: `rewards brand create` adds one, `serve --seed FILE` several')];
  const more = others.length > 0 ? [`and ${others.length} more: \`rewards brand list\``] : [];
  const secrets = [
    ...(brand.apiKey ? [`API key ${brand.apiKey}`] : []),
    ...(brand.webhookSecret ? [`webhook ${brand.webhookSecret}`] : []),
  ];
  return [
    row('Brand', brand.brandId, `domain ${brand.domain}`, ...more),
    ...secrets.map((secret, index) => row(index === 0 ? 'Secrets' : '', secret)),
  ];
}

/** The logins of the site: a visitor, and an administrator of its settings. */
function loginCells(users: Ready['users']): string[] {
  const able = users.filter(({ password }) => password !== '');
  const visitor = able.find(({ role }) => role === 'subscriber');
  const administrator = able.find(({ role }) => role === 'administrator');
  return [
    ...(visitor ? [`log in as ${visitor.login}, password ${visitor.password}`] : []),
    ...(administrator ? [`administrator ${administrator.login}, password ${administrator.password}`] : []),
  ];
}

/** A file with many changes would push the rest of the banner off the screen. */
const CHANGES_SHOWN = 8;

/** What the seed files have changed since the last start. */
function seedLines(changes: NonNullable<Ready['seedChanges']>, style: Style): string[] {
  const left = changes.length - CHANGES_SHOWN;
  return [
    ...changeLines(changes.slice(0, CHANGES_SHOWN), style),
    ...(left > 0 ? [style.dim(`and ${left} more settings that the seed files have changed`)] : []),
  ];
}

const contractLines = ({ token, escrow, perks, pointsSale }: Ready['contracts']) => [
  `RWT         ${token}`,
  `escrow      ${escrow}`,
  `perks       ${perks}`,
  `points sale ${pointsSale}`,
];

/** Commands that work unchanged for the brand that commands take, each for another user; none without an active event. */
function tryLines({ urls, users, brands }: Ready, { program, row }: { program: string; row: Row }): string[] {
  const [brand] = brands;
  const eventType = brand?.events[0];
  if (!brand || eventType === undefined) return [];
  const [first = 'alice@demo.example', second = 'bob@demo.example'] = users.map(({ email }) => email);
  const { brandId, domain } = brand;
  const body = JSON.stringify({ brandId, eventType, userEmail: second, domain }, null, 1).replace(
    /\n */g,
    ' ',
  );
  const indent = ' '.repeat(INDENT + 2);
  return [
    '',
    row('Try', `${program} send-event ${eventType} --user ${first}`),
    // A shell goes on after a backslash, and JSON after a blank, so that the command can be copied as it stands.
    `${' '.repeat(INDENT)}curl -s ${urls.events}/rewards-api/manual-event \\`,
    `${indent}-H 'content-type: application/json' \\`,
    `${indent}-d '${body.replace(', "userEmail"', `,\n${indent}    "userEmail"`)}'`,
  ];
}

/** Rewrites a line of the JSON log; anything else stays as it is. */
export function logLine(json: string, style: Style): string {
  const { dim, yellow, red } = style;
  const paint: Record<string, (text: string) => string> = { debug: dim, warn: yellow, error: red };
  const entry = parsed(json);
  if (!entry) return json;
  const { time, level, message, ...fields } = entry;
  const facts = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => dim(`${name}=${value}`));
  const name = String(level).padEnd(5);
  return `${[dim(String(time).slice(11, 19)), paint[String(level)]?.(name) ?? name, message, ...facts].join('  ')}\n`;
}

function parsed(json: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
