/** Finds the brand that a command means: named by its id or one of its domains, else the first that the target has. */
import { listBrands, showBrand } from '../../contract/control/brands.ts';
import { isGiven } from '../../production/secrets.ts';
import type { CommandContext } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { type LedgerOptions, ledgerSecrets } from '../machine/shared-options.ts';
import { ledgerCall } from './control.ts';
import { withLedger } from './ledger.ts';
import { clientFor, type Target } from './target.ts';

export interface NamedBrand {
  brandId: string;
  /** Undefined where the target does not tell. */
  domain?: string | undefined;
}

/**
 * Undefined without a name, where the target does not list its brands. Throws E_UNREACHABLE without an answer. `ledger`: the
 * database of a target in production, where the command takes one; a service without controls does not tell whose a domain is.
 */
export async function namedBrand(
  context: CommandContext,
  target: Target,
  name: string | undefined,
  ledger?: LedgerOptions,
): Promise<NamedBrand | undefined> {
  const listed = target.run?.brands ?? [];
  if (name === undefined && listed[0]) return listed[0];
  const { call } = clientFor(target, context);
  if (name === undefined) {
    const { status, body } = await call(listBrands);
    const [first] = status === 200 && Array.isArray(body?.brands) ? body.brands : [];
    return first && { brandId: first.brandId, domain: first.domains[0] };
  }
  const wanted = name.toLowerCase();
  const known = listed.find(({ brandId, domain }) => brandId === wanted || domain === wanted);
  if (known) return known;
  const isId = /^0x[0-9a-f]{40}$/.test(wanted);
  // A service without controls knows what to do with an id; only an emulator tells whose a domain is.
  if (isId && !target.run) return { brandId: name };
  const hasLedger = ledger !== undefined && !target.run && isGiven(ledgerSecrets(ledger).database);
  const { status, body } = hasLedger
    ? await inLedger(context, ledger, name)
    : await call(showBrand, { path: { name } });
  if (status === 200 && typeof body?.brandId === 'string') {
    return { brandId: body.brandId, domain: isId ? body.domains[0] : wanted };
  }
  if (isId) return { brandId: name };
  if (status === 404 && (target.run || hasLedger)) {
    throw new CliError('E_REFUSED', {
      message: `No brand here has the domain ${name}.`,
      fix: '`rewards brand list` shows all brands with their domains.',
      details: { reason: 'brand_not_found', name },
    });
  }
  throw usageError(
    `This target does not tell which brand has the domain ${name}.`,
    ledger === undefined
      ? 'Name the brand by its id (--brand 0x…); for an emulator of yours, set REWARDS_CONTROL_TOKEN.'
      : 'Name the brand by its id (--brand 0x…), or add the database of the service (--database-url-file); for an emulator of yours, set REWARDS_CONTROL_TOKEN.',
  );
}

/** The same question, answered by a ledger; the target stays what the command speaks to. */
async function inLedger(context: CommandContext, options: LedgerOptions, name: string) {
  const { target } = context.about;
  const reply = await withLedger(context, options, async (ledger) => {
    const call = await ledgerCall(context, ledger);
    return call(showBrand, { path: { name } });
  });
  context.about.target = target;
  return reply;
}

/** The same; throws E_USAGE where no brand is named and the target does not list its brands. */
export async function demandBrand(
  context: CommandContext,
  target: Target,
  name: string | undefined,
  ledger?: LedgerOptions,
): Promise<NamedBrand> {
  const brand = await namedBrand(context, target, name, ledger);
  if (brand) return brand;
  throw usageError(
    'The brand is missing, and this target does not list its brands.',
    'Add --brand <id>, or set REWARDS_BRAND_ID; for an emulator of yours, set REWARDS_CONTROL_TOKEN.',
  );
}
