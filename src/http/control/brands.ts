/** Brands over the control API: the same routes whether an emulator or a database is behind them. */
import { type Context, Hono } from 'hono';
import { changeBrand } from '../../actions/brands/change-brand.ts';
import { changeRule, removeRule } from '../../actions/brands/change-rules.ts';
import { createBrand } from '../../actions/brands/create-brand.ts';
import type { BrandRefusal, ManageBrandsDeps } from '../../actions/brands/named-brand.ts';
import { rotateKey } from '../../actions/brands/rotate-key.ts';
import { overviewBrands, showBrand } from '../../actions/brands/show-brands.ts';
import { dnsRecord } from '../../actions/brands/show-dns-record.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { readSingle, type Settings } from '../../rules/brands/settings.ts';
import { readJsonBody } from '../frame/json-body.ts';
import { brandDetailReply, brandReply, newKeyReply, ruleReply } from './brand-reply.ts';
import { controlProblem } from './problem.ts';

export interface ControlBrandsDeps extends ManageBrandsDeps {
  /** Gives a new brand RWT to pay from; left out where nobody can make it from nothing. */
  openEscrow?: ((brandId: BrandId, amount: number) => Promise<void>) | undefined;
  /** Gives a new brand a wallet that pays its users' gas; left out where only the operator can. */
  openGasWallet?: ((brandId: BrandId) => Promise<void>) | undefined;
  /** Whether the caller may see secrets; changes are guarded before they get here. */
  maySeeSecrets: (context: Context) => boolean;
}

const BODY_LIMIT_BYTES = 64 * 1024;
const OVERLAP_DEFAULT = '24h';

export function controlBrands(deps: ControlBrandsDeps): Hono {
  const app = new Hono();

  app.get('/', async (context) => {
    const brands = await overviewBrands(deps);
    return context.json({ brands: brands.map(brandReply) });
  });
  app.post('/', async (context) => {
    const body = await settingsOf(context);
    if (!body) return noObject(context);
    const { escrow, ...settings } = body;
    const amount = escrow === undefined ? undefined : readEscrow(deps, escrow);
    if (typeof amount === 'string') return invalid(context, [{ setting: 'escrow', message: amount }]);
    const created = await createBrand(deps, settings);
    if ('refusal' in created) return refused(context, created.refusal);
    if (amount !== undefined) await deps.openEscrow?.(created.brandId, amount);
    await deps.openGasWallet?.(created.brandId);
    const brand = await showBrand(deps, created.brandId);
    return context.json(
      { ...brandDetailReply('refusal' in brand ? created : brand), ...newKeyReply(created) },
      201,
    );
  });
  app.get('/:name', async (context) => {
    const brand = await showBrand(deps, context.req.param('name'));
    return 'refusal' in brand ? refused(context, brand.refusal) : context.json(brandDetailReply(brand));
  });
  app.patch('/:name', async (context) => {
    const settings = await settingsOf(context);
    if (!settings) return noObject(context);
    const brand = await changeBrand(deps, context.req.param('name'), settings);
    return 'refusal' in brand ? refused(context, brand.refusal) : context.json(brandDetailReply(brand));
  });
  app.patch('/:name/rules/:eventType', async (context) => {
    const settings = await settingsOf(context);
    if (!settings) return noObject(context);
    const rule = await changeRule(deps, context.req.param(), settings);
    return 'refusal' in rule ? refused(context, rule.refusal) : context.json(ruleReply(rule));
  });
  app.delete('/:name/rules/:eventType', async (context) => {
    const outcome = await removeRule(deps, context.req.param());
    return 'refusal' in outcome ? refused(context, outcome.refusal) : context.json(outcome);
  });
  app.post('/:name/keys', async (context) => {
    const settings = await settingsOf(context);
    if (!settings) return noObject(context);
    const overlap = readSingle({ kind: 'duration' }, settings.overlap ?? OVERLAP_DEFAULT);
    if ('expected' in overlap) {
      return invalid(context, [{ setting: 'overlap', message: overlap.expected }]);
    }
    const key = await rotateKey(deps, context.req.param('name'), { overlapMs: overlap.value });
    return 'refusal' in key ? refused(context, key.refusal) : context.json(newKeyReply(key), 201);
  });
  app.get('/:name/dns', async (context) => {
    if (!deps.maySeeSecrets(context)) {
      const message = 'The record holds a token: send `Authorization: Bearer <controlToken>`.';
      return controlProblem(context, 401, { error: 'Unauthorized', message });
    }
    const record = await dnsRecord(deps, context.req.param('name'), context.req.query('domain') ?? '');
    return 'refusal' in record ? refused(context, record.refusal) : context.json({ type: 'TXT', ...record });
  });
  return app;
}

/** RWT, or why there can be none. */
function readEscrow({ openEscrow }: ControlBrandsDeps, escrow: unknown): number | string {
  if (!openEscrow) return "cannot be given here: deposit RWT into the brand's escrow on chain";
  const read = readSingle({ kind: 'whole', least: 1, of: 'RWT' }, escrow);
  return 'expected' in read ? read.expected : read.value;
}

async function settingsOf(context: Context): Promise<Settings | undefined> {
  const body = await readJsonBody(context.req.raw, BODY_LIMIT_BYTES);
  if (!('value' in body) || typeof body.value !== 'object' || Array.isArray(body.value)) return undefined;
  return body.value === null ? undefined : (body.value as Settings);
}

const noObject = (context: Context) =>
  controlProblem(context, 400, {
    error: 'Invalid body',
    message: 'Send one JSON object with the settings by name.',
  });

const invalid = (
  context: Context,
  problems: Extract<BrandRefusal, { code: 'invalid_settings' }>['problems'],
) => refused(context, { code: 'invalid_settings', problems });

function refused(context: Context, refusal: BrandRefusal): Response {
  const details = { reason: refusal.code };
  switch (refusal.code) {
    case 'brand_not_found':
      return controlProblem(context, 404, {
        error: `Brand not found: ${refusal.name}`,
        message: 'Name it by its id or by one of its domains; `rewards brand list` shows all.',
        details,
      });
    case 'rule_not_found':
      return controlProblem(context, 404, {
        error: `Brand ${refusal.brandId} has no rule for ${refusal.eventType}`,
        message: '`rewards brand show` lists the rules it has.',
        details,
      });
    case 'brand_exists':
      return controlProblem(context, 409, {
        error: `Brand ${refusal.brandId} is there already`,
        message: 'Change it with `rewards brand set`.',
        details,
      });
    case 'invalid_settings':
      return controlProblem(context, 400, {
        error: 'Invalid settings',
        message: refusal.problems.map(({ setting, message }) => `${setting} ${message}`).join('; '),
        details: { ...details, problems: refusal.problems },
      });
  }
}
