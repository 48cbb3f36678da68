/** The banner of a stack that is ready: addresses, keys, and commands to try first; then its log, a line each. */

import type { Ready } from '../../emulator/state/ready.ts';
import { manifest } from '../machine/manifest.ts';
import { changeLines } from '../seed/view.ts';
import { type Style, shortAddress } from '../terminal/style.ts';

/** Builds the banner; `style` decides about colours. */
export function banner(
  ready: Ready,
  { style, tookMs, ephemeral }: { style: Style; tookMs: number; ephemeral: boolean },
): string {
  const { bold, dim, cyan, green } = style;
  const row = (name: string, ...cells: string[]) => `  ${bold(name.padEnd(10))}${cells.join('   ')}`;
  const { urls, contracts } = ready;
  const brand = ready.brands[0];
  const head = [
    bold(`rewards ${manifest.version}`),
    `${green('emulator ready')} in ${(tookMs / 1_000).toFixed(1)}s`,
    dim(`clock ${ready.clock}`),
  ];
  const lines = [
    head.join('  '),
    '',
    row('API', cyan(`${urls.events}/rewards-api`)),
    row('Control', cyan(urls.control)),
    row('RPC', cyan(urls.rpc), `chain ${ready.chain.id}`),
    row('Data', ephemeral ? 'dropped at the end' : `${ready.dataDir} (kept; --ephemeral to drop)`),
    ...seedLines(ready.seedChanges ?? [], style).map((line, index) => row(index === 0 ? 'Seed' : '', line)),
    '',
    ...(brand
      ? [
          row('Brand', brand.brandId, `domain ${brand.domain}`),
          row('Secrets', `API key ${brand.apiKey}`),
          row('', `webhook ${brand.webhookSecret}`),
        ]
      : []),
    ...usersRows(ready.users).map((cells, index) => row(index === 0 ? 'Users' : '', cells)),
    row('Contracts', ...contractCells(contracts)),
    dim('            well-known test keys: never fund them on a real chain'),
    ...(brand
      ? ['', ...tryLines(ready, brand).map((line, index) => row(index === 0 ? 'Try' : '', line))]
      : []),
  ];
  return `${lines.join('\n')}\n`;
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

const contractCells = ({ token, escrow, perks, pointsSale }: Ready['contracts']) => [
  `RWT ${token}`,
  `escrow ${shortAddress(escrow)}`,
  `perks ${shortAddress(perks)}`,
  `points sale ${shortAddress(pointsSale)}`,
];

/** Two users to a line. */
function usersRows(users: Ready['users']): string[] {
  const cells = users.map(({ email, address }) => `${email} ${shortAddress(address)}`);
  return cells.flatMap((cell, index) =>
    index % 2 === 0 ? [[cell, cells[index + 1]].filter(Boolean).join('   ')] : [],
  );
}

/** Commands that work unchanged, each for another user. */
function tryLines({ urls, users }: Ready, brand: Ready['brands'][number]): string[] {
  const [first = 'alice@demo.example', second = 'bob@demo.example'] = users.map(({ email }) => email);
  const body = JSON.stringify({
    brandId: brand.brandId,
    eventType: 'account_creation',
    userEmail: second,
    domain: brand.domain,
  });
  return [
    `npx rewards send-event account_creation --user ${first}`,
    `curl -s ${urls.events}/rewards-api/manual-event -H 'content-type: application/json' -d '${body}'`,
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
