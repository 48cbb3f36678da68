/** A token for people: its claims, its end, and whether the service accepts it. */
import { formatDuration } from '../../lib/duration.ts';
import type { JsonObject } from '../service/assignments.ts';
import type { Style } from '../terminal/style.ts';

export interface DecodedToken {
  header: JsonObject;
  claims: JsonObject;
  issuedAt: string | null;
  expiresAt: string | null;
  /** By the emulator's clock if one runs here, else by this machine's. */
  now: string;
  /** Null: the token never expires. */
  expired: boolean | null;
  /** Null: no emulator could verify the token. */
  verifies: boolean | null;
  reason: string | null;
  message: string | null;
  user: { subject: string; email: string | null; wallets: string[] } | null;
}

export function tokenText(token: DecodedToken, style: Style): string {
  return [
    style.bold('header'),
    ...fieldLines(token.header, style),
    style.bold('claims'),
    ...fieldLines(token.claims, style),
    `${style.bold('expires')}   ${expiry(token, style)}`,
    `${style.bold('verifies')}  ${verdict(token, style)}`,
  ].join('\n');
}

function fieldLines(fields: JsonObject, style: Style): string[] {
  const width = Math.max(0, ...Object.keys(fields).map((name) => printable(name).length));
  return Object.entries(fields).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const isTime = ['exp', 'iat', 'nbf', 'auth_time'].includes(name) && typeof value === 'number';
    const time = new Date(isTime ? value * 1_000 : Number.NaN);
    const meant = Number.isNaN(time.getTime()) ? '' : style.dim(`  ${time.toISOString()}`);
    return `  ${style.dim(printable(name).padEnd(width))}  ${printable(text)}${meant}`;
  });
}

function expiry({ expiresAt, now }: DecodedToken, style: Style): string {
  if (expiresAt === null) return style.yellow('never');
  const leftMs = Date.parse(expiresAt) - Date.parse(now);
  return leftMs > 0
    ? `${expiresAt}  ${style.dim(`in ${formatDuration(leftMs)}`)}`
    : `${expiresAt}  ${style.yellow(`${formatDuration(-leftMs)} ago`)}`;
}

function verdict({ verifies, message, reason, user }: DecodedToken, style: Style): string {
  if (verifies === null) return style.dim('not asked');
  if (!verifies) return `${style.red('no')}, ${message ?? ''}  ${style.dim(reason ?? '')}`;
  const wallets = user?.wallets.join(', ') || 'no wallet';
  return `${style.green('yes')}, as ${user?.email ?? user?.subject ?? ''}  ${style.dim(wallets)}`;
}

/** A token may come from anywhere, so its control characters must not reach the terminal. */
const printable = (text: string) =>
  text.replace(
    /[\u0000-\u001f\u007f-\u009f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
