/** Webhook endpoints and deliveries over the control API: the same handlers whether an emulator or a database is behind them. */
import type { Context, Handler } from 'hono';
import {
  replayDelivery,
  showDeliveries,
  showDelivery,
} from '../../../actions/webhooks/look-at-deliveries.ts';
import {
  addEndpoint,
  type ManageEndpointsDeps,
  recoverEndpoint,
  removeEndpoint,
  rotateSecret,
  setEndpoint,
  showEndpoints,
} from '../../../actions/webhooks/manage-endpoints.ts';
import { readTime } from '../../../ledger/database/read-time.ts';
import { instant as instantText } from '../../../lib/setting.ts';
import { readSingle, type SettingProblem, type Settings } from '../../../rules/brands/settings.ts';
import { isWebhookType, type WebhookType, webhookTypes } from '../../../rules/webhooks/body.ts';
import { readSettings, refuse } from '../refuse.ts';
import { deliveryReply, endpointReply } from './webhook-reply.ts';

export interface ControlWebhooksDeps extends ManageEndpointsDeps {
  /** Deliveries are due now; where another process delivers, it finds them by itself. */
  nudge?: (() => void) | undefined;
}

const OVERLAP_DEFAULT = '24h';
const LIST_DEFAULT = 50;
const LIST_MAX = 500;
const STATES = ['waiting', 'held', 'failed', 'delivered'] as const;

export function controlWebhooks(deps: ControlWebhooksDeps): Record<string, Handler> {
  return { ...endpointHandlers(deps), ...secretHandlers(deps), ...deliveryHandlers(deps) };
}

const endpointHandlers = (deps: ControlWebhooksDeps): Record<string, Handler> => ({
  async listWebhookEndpoints(context) {
    const shown = await showEndpoints(deps, context.req.query('brand'));
    if ('refusal' in shown) return refuse(context, shown.refusal);
    return context.json({ endpoints: shown.endpoints.map(endpointReply) });
  },
  async addWebhookEndpoint(context) {
    const body = await readSettings(context);
    if (!body) return refuse(context, { code: 'invalid_body' });
    const { brand, url, isDefault, types } = body;
    const chosen = readTypes(types);
    if (typeof chosen === 'string') return invalid(context, 'types', chosen);
    if (brand !== undefined && typeof brand !== 'string')
      return invalid(context, 'brand', 'must be the id or a domain of a brand');
    if (typeof url !== 'string') return invalid(context, 'url', 'must be a URL');
    const wish = { brand, url, types: chosen ?? [], isDefault: isDefault === true };
    const added = await addEndpoint(deps, wish);
    if ('refusal' in added) return refuse(context, added.refusal);
    const { endpoint, secret } = added;
    return context.json({ ...endpointReply(endpoint), ...(secret !== undefined && { secret }) }, 201);
  },
  async setWebhookEndpoint(context) {
    const body = await readSettings(context);
    if (!body) return refuse(context, { code: 'invalid_body' });
    const change = readChange(body);
    if ('problems' in change) return refuse(context, { code: 'invalid_settings', problems: change.problems });
    const set = await setEndpoint(deps, idOf(context), change);
    return 'refusal' in set ? refuse(context, set.refusal) : context.json(endpointReply(set.endpoint));
  },
  async removeWebhookEndpoint(context) {
    const removed = await removeEndpoint(deps, idOf(context));
    return 'refusal' in removed ? refuse(context, removed.refusal) : context.json(removed);
  },
});

const secretHandlers = (deps: ControlWebhooksDeps): Record<string, Handler> => ({
  async rotateWebhookSecret(context) {
    const body = await readSettings(context);
    if (!body) return refuse(context, { code: 'invalid_body' });
    const overlap = readSingle({ kind: 'duration' }, body.overlap ?? OVERLAP_DEFAULT);
    if ('expected' in overlap) return invalid(context, 'overlap', overlap.expected);
    const rotated = await rotateSecret(deps, idOf(context), { overlapMs: overlap.value });
    if ('refusal' in rotated) return refuse(context, rotated.refusal);
    return context.json({ ...endpointReply(rotated.endpoint), secret: rotated.secret }, 201);
  },
  async recoverWebhooks(context) {
    const body = await readSettings(context);
    if (!body) return refuse(context, { code: 'invalid_body' });
    const sinceMs = readMoment(
      body.since,
      await readTime({ db: deps.database.db, now: deps.businessTime() }),
    );
    if (sinceMs === undefined)
      return invalid(
        context,
        'since',
        'must be a time such as 2030-01-01T00:00:00Z, or a duration such as 5d',
      );
    const outcome = await recoverEndpoint(deps, idOf(context), { sinceMs });
    if ('refusal' in outcome) return refuse(context, outcome.refusal);
    deps.nudge?.();
    return context.json(outcome);
  },
});

const deliveryHandlers = (deps: ControlWebhooksDeps): Record<string, Handler> => ({
  async listDeliveries(context) {
    const { brand, endpoint: endpointId, state: asked, limit: text } = context.req.query();
    const limit = text === undefined ? LIST_DEFAULT : Number(text);
    if (!Number.isInteger(limit) || limit < 1 || limit > LIST_MAX)
      return refuse(context, { code: 'invalid_limit', limitMax: LIST_MAX });
    const state = STATES.find((one) => one === asked);
    if (asked !== undefined && !state)
      return invalid(context, 'state', `must be one of ${STATES.join(', ')}`);
    const shown = await showDeliveries(deps, { brand, endpointId, state, limit });
    if ('refusal' in shown) return refuse(context, shown.refusal);
    return context.json({ deliveries: shown.deliveries.map(deliveryReply) });
  },
  async showDelivery(context) {
    const id = idOf(context);
    const shown = await showDelivery(deps, id);
    if (!shown) return refuse(context, { code: 'webhook_event_not_found', id });
    const deliveries = shown.deliveries.map(({ log, ...delivery }) => ({
      ...deliveryReply(delivery),
      log: log.map(({ at, ms, status, why, answer }) => ({
        ...{ at: new Date(at).toISOString(), ms, status, why, answer },
      })),
    }));
    return context.json({ id, body: shown.body, deliveries });
  },
  async replayDelivery(context) {
    const body = await readSettings(context);
    if (!body) return refuse(context, { code: 'invalid_body' });
    const eventId = idOf(context);
    const endpointId = typeof body.endpoint === 'string' ? body.endpoint : undefined;
    const replayed = await replayDelivery(deps, { eventId, endpointId });
    if (replayed === undefined) return refuse(context, { code: 'webhook_event_not_found', id: eventId });
    deps.nudge?.();
    return context.json({ replayed });
  },
});

const idOf = (context: Context) => context.req.param('id') ?? '';

const invalid = (context: Context, setting: string, message: string) =>
  refuse(context, { code: 'invalid_settings', problems: [{ setting, message }] });

/** The types that are named, none for all of them; undefined when nothing is said, else what is wrong. */
function readTypes(given: unknown): WebhookType[] | string | undefined {
  if (given === undefined) return undefined;
  const words = (Array.isArray(given) ? given : String(given).split(',')).map((one) => String(one).trim());
  if (words.every((word) => word === 'all' || word === '')) return [];
  const chosen = words.filter(isWebhookType);
  return chosen.length === words.length
    ? [...new Set(chosen)]
    : `must be all, or some of ${webhookTypes.join(', ')}`;
}

function readChange(
  body: Settings,
): { url?: string; types?: WebhookType[]; enabled?: boolean } | { problems: SettingProblem[] } {
  const problems: SettingProblem[] = [];
  const unknown = Object.keys(body).filter((name) => !['url', 'types', 'enabled'].includes(name));
  for (const setting of unknown) problems.push({ setting, message: 'is not one of url, types, enabled' });
  const { url } = body;
  if (url !== undefined && typeof url !== 'string')
    problems.push({ setting: 'url', message: 'must be a URL' });
  const types = readTypes(body.types);
  if (typeof types === 'string') problems.push({ setting: 'types', message: types });
  const enabled = body.enabled === undefined ? undefined : readSingle({ kind: 'switch' }, body.enabled);
  if (enabled && 'expected' in enabled) problems.push({ setting: 'enabled', message: enabled.expected });
  if (Object.keys(body).length === 0)
    problems.push({ setting: 'url', message: 'or another setting must be given: url, types, enabled' });
  if (problems.length > 0) return { problems };
  return {
    ...(typeof url === 'string' && { url }),
    ...(Array.isArray(types) && { types }),
    ...(enabled && 'value' in enabled && { enabled: enabled.value }),
  };
}

/** A time, or how long ago it was. */
function readMoment(given: unknown, nowMs: number): number | undefined {
  if (typeof given !== 'string') return undefined;
  const atMs = instantText.parse(given);
  if (atMs !== undefined) return atMs;
  const ago = readSingle({ kind: 'duration' }, given);
  return 'value' in ago ? nowMs - ago.value : undefined;
}
