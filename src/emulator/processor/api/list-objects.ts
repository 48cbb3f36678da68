/** Lists and expansions of the processor's API. */
import type { Queries } from '../../../ledger/database/database.ts';
import { type EmulatedObject, findObject, listObjects } from '../../../ledger/emulator/processor.ts';
import type { StripeObject } from '../records.ts';
import { invalidRequest, noSuchObject } from '../stripe-error.ts';
import type { Parameters } from './form-parameters.ts';

const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 100;

/** How an object looks in an answer. */
export type Show = (row: EmulatedObject) => StripeObject;

interface ListWish {
  kind: string;
  /** Path of the list, which its answer repeats. */
  url: string;
  show: Show;
  /** By the payment intent that objects belong to, or the object that events are about. */
  about?: string | undefined;
  /** What no index answers. */
  matches?: (object: StripeObject) => boolean;
}

/** Newest first. Reads `limit`, `starting_after`, `ending_before` and `created`; `finish` is the caller's. */
export async function listPage(db: Queries, parameters: Parameters, wish: ListWish) {
  const limit = parameters.whole('limit', { min: 1 }) ?? LIMIT_DEFAULT;
  if (limit > LIMIT_MAX) {
    throw invalidRequest(`This value must be less than or equal to ${LIMIT_MAX}.`, { param: 'limit' });
  }
  const after = parameters.text('starting_after');
  const before = parameters.text('ending_before');
  if (after !== undefined && before !== undefined) {
    throw invalidRequest('You cannot parameterize both ending_before and starting_after.');
  }
  const created = readCreated(parameters);
  const start = after === undefined ? undefined : await numberOf(db, wish.kind, after, 'starting_after');
  const end = before === undefined ? undefined : await numberOf(db, wish.kind, before, 'ending_before');
  const found: EmulatedObject[] = [];
  let beforeNumber = start;
  let afterNumber = end;
  for (;;) {
    const rows = await listObjects(db, {
      kind: wish.kind,
      about: wish.about,
      ...created,
      beforeNumber,
      afterNumber,
      limit: LIMIT_MAX + 1,
    });
    const fitting = rows.filter((row) => wish.matches?.(wish.show(row)) ?? true);
    if (afterNumber === undefined) found.push(...fitting);
    else found.unshift(...fitting);
    if (rows.length <= LIMIT_MAX || found.length > limit) break;
    if (afterNumber === undefined) beforeNumber = rows.at(-1)?.number;
    else afterNumber = rows[0]?.number;
  }
  const page = end === undefined ? found.slice(0, limit) : found.slice(-limit);
  return {
    object: 'list' as const,
    url: wish.url,
    has_more: found.length > limit,
    data: page.map(wish.show),
  };
}

async function numberOf(db: Queries, kind: string, id: string, param: string): Promise<number> {
  const row = await findObject(db, id);
  if (row?.kind !== kind) throw noSuchObject(kind, id, param);
  return row.number;
}

/** `created=<second>`, or any of `created[gt|gte|lt|lte]`. */
function readCreated(parameters: Parameters): { createdFromMs?: number; createdToMs?: number } {
  if (!parameters.has('created')) return {};
  const range = parameters.isGroup('created') ? parameters.group('created') : undefined;
  if (!range) {
    const second = parameters.whole('created') ?? 0;
    return { createdFromMs: second * 1_000, createdToMs: second * 1_000 + 999 };
  }
  const [gt, gte, lt, lte] = ['gt', 'gte', 'lt', 'lte'].map((name) => range.whole(name));
  range.finish();
  const from = [gte, gt === undefined ? undefined : gt + 1].filter((one) => one !== undefined);
  const to = [lte, lt === undefined ? undefined : lt - 1].filter((one) => one !== undefined);
  return {
    ...(from.length > 0 && { createdFromMs: Math.max(...from) * 1_000 }),
    ...(to.length > 0 && { createdToMs: Math.min(...to) * 1_000 + 999 }),
  };
}

/** How deep the API expands. */
const EXPAND_DEPTH_MAX = 4;

/** Puts objects in the place of the ids that `paths` name, such as `payment_intent.latest_charge` or `data.payment_intent`. */
export async function expand(
  db: Queries,
  show: Show,
  answer: object,
  paths: readonly string[],
): Promise<object> {
  for (const path of paths) {
    const parts = path.split('.');
    if (parts.length > EXPAND_DEPTH_MAX) {
      throw invalidRequest(`You can only expand up to ${EXPAND_DEPTH_MAX} levels deep: ${path}`, {
        param: 'expand',
      });
    }
    await expandPath({ db, show, path }, answer as Record<string, unknown>, parts);
  }
  return answer;
}

async function expandPath(
  of: { db: Queries; show: Show; path: string },
  holder: Record<string, unknown>,
  [name = '', ...rest]: string[],
): Promise<void> {
  if (!Object.hasOwn(holder, name)) throw notExpandable(of.path);
  const value = holder[name];
  if (Array.isArray(value)) {
    for (const item of value) await expandPath(of, item as Record<string, unknown>, rest);
    return;
  }
  if (value === null) return;
  if (typeof value === 'string') {
    const row = await findObject(of.db, value);
    if (!row) throw notExpandable(of.path);
    holder[name] = of.show(row);
  }
  const inner = holder[name];
  if (rest.length > 0) await expandPath(of, inner as Record<string, unknown>, rest);
}

const notExpandable = (path: string) =>
  invalidRequest(`This property cannot be expanded (${path}).`, { param: 'expand' });
