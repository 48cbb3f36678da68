/** `rewards token issue|decode|rotate-keys`. */

import type { TokenVerdict } from '../../contract/control/users.ts';
import * as users from '../../contract/control/users.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { readInput } from '../machine/read-input.ts';
import { isObject, type JsonObject } from '../service/assignments.ts';
import { refusalOf } from '../service/control-reply.ts';
import { clientFor, resolveTarget } from '../service/target.ts';
import type { Style } from '../terminal/style.ts';

export const issueToken: Handler<{ user: string; expires: string; audience?: string }> = async (
  context,
  { user, expires, audience },
) => {
  const client = clientFor(await resolveTarget(context), context);
  const reply = await client.call(users.issueToken, { body: { user, expires, audience } });
  const refusal = refusalOf(reply);
  if (refusal) return { ok: false, error: refusal, data: reply.body };
  const { token, address, expiresAt } = reply.body;
  return { ok: true, data: { token, address, expiresAt }, text: () => token };
};

export const rotateKeys: Handler<{ revoke?: boolean }> = async (context, { revoke = false }) => {
  const client = clientFor(await resolveTarget(context), context);
  const reply = await client.call(users.rotateTokenKeys, { body: { revoke } });
  const refusal = refusalOf(reply);
  if (refusal) return { ok: false, error: refusal, data: reply.body };
  const { keyId, published } = reply.body;
  return {
    ok: true,
    data: { keyId, published },
    text: (style) => {
      const earlier = published.length - 1;
      const fate = revoke
        ? 'tokens of earlier keys have ended'
        : `${earlier} earlier ${earlier === 1 ? 'key' : 'keys'} still published`;
      return `${style.green('✓')} signs with ${style.bold(keyId)}  ${style.dim(fate)}`;
    },
  };
};

export async function decodeToken(
  context: CommandContext,
  { token: given }: { token: string },
): Promise<CommandResult> {
  const text = given === '-' ? await readInput(context.runtime, '-') : given;
  const token = text.trim().replace(/^Bearer +/i, '');
  const { header, claims } = partsOf(token);
  const verdict = await askEmulator(context, token);
  const now = verdict?.now ?? new Date(context.runtime.clock.now()).toISOString();
  const expiresAt = instantOf(claims.exp);
  const data: DecodedToken = {
    header,
    claims,
    issuedAt: instantOf(claims.iat),
    expiresAt,
    now,
    expired: expiresAt === null ? null : expiresAt <= now,
    verifies: verdict?.verifies ?? null,
    reason: verdict?.reason ?? null,
    message: verdict?.message ?? null,
    user: verdict?.user ?? null,
  };
  return { ok: true, data, text: (style) => tokenText(data, style) };
}

/** The service's verdict on a token; undefined when no emulator runs here. */
async function askEmulator(context: CommandContext, token: string): Promise<TokenVerdict | undefined> {
  try {
    const client = clientFor(await resolveTarget(context), context);
    const reply = await client.call(users.verifyToken, { body: { token } });
    const refusal = refusalOf(reply);
    if (!refusal) return reply.body;
    if (refusal.code !== 'E_NOT_EMULATOR') throw new CliError(refusal.code, refusal);
  } catch (error) {
    if (!(error instanceof CliError && error.problem.code === 'E_NOT_RUNNING')) throw error;
  }
  context.note(
    'no emulator runs here, so the token was not verified; times are by the clock of this machine',
  );
  return undefined;
}

function partsOf(token: string): { header: JsonObject; claims: JsonObject } {
  const parts = token.split('.');
  const [header, claims] = parts.map(objectIn);
  if (parts.length === 3 && header && claims) return { header, claims };
  throw usageError(
    'The text is not a JWT, which has three parts with dots between them; the first two are JSON in base64url.',
    'Give the whole token, or - and the token on standard input.',
  );
}

function objectIn(part: string): JsonObject | undefined {
  if (!/^[\w-]+$/.test(part)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The time of a claim in seconds, when it is within the range of a date. */
function instantOf(seconds: unknown): string | null {
  const at = new Date(typeof seconds === 'number' ? seconds * 1_000 : Number.NaN);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

interface DecodedToken {
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

function tokenText(token: DecodedToken, style: Style): string {
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
