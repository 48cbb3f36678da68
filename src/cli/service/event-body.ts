/** The body of a customer event, from flags, a file and the brand of the stack that runs here. */
import { usageError } from '../machine/errors.ts';
import {
  type Assignment,
  assign,
  type JsonObject,
  type KnownFields,
  parseAssignment,
} from './assignments.ts';
import type { NamedBrand } from './named-brand.ts';

/** The flags of `send-event` that set parts of the body. */
export interface EventFlags {
  type?: string;
  user?: string;
  brand?: string;
  domain?: string;
  sourceUrl?: string;
  origin?: string;
  userIdentifier?: string;
  channel?: string;
  skipCooldown?: boolean;
  set?: string[];
  setString?: string[];
}

/** Contract: Event submission. `true` marks the fields that hold objects. */
const EVENT_FIELDS: KnownFields = {
  brandId: false,
  eventType: false,
  userEmail: false,
  domain: false,
  sourceUrl: false,
  userIdentifier: true,
  channel_id: false,
  metadata: true,
};

/**
 * Later sources win: the stack's brand, the file, the flags, --set. With a file no field is required, so that
 * people can try incomplete bodies; without one, E_USAGE when type, user or brand is missing.
 */
export function buildEventBody(
  flags: EventFlags,
  known: { file: JsonObject | undefined; brands: readonly NamedBrand[] },
): JsonObject {
  const said = assign(
    assign(known.file ?? {}, flagAssignments(flags), EVENT_FIELDS),
    [
      ...(flags.set ?? []).map((text) => parseAssignment(text, { asText: false })),
      ...(flags.setString ?? []).map((text) => parseAssignment(text, { asText: true })),
    ],
    EVENT_FIELDS,
  );
  const body = withBrand(said, { flags, brands: known.brands });
  if (known.file === undefined) demandEssentials(body);
  return body;
}

function flagAssignments(flags: EventFlags): Assignment[] {
  const fields: [string, unknown][] = [
    ['brandId', flags.brand],
    ['eventType', flags.type],
    ['userEmail', flags.user],
    ['domain', flags.domain],
    ['sourceUrl', flags.sourceUrl],
    ['userIdentifier', flags.userIdentifier],
    ['metadata.channel_id', flags.channel],
    ['metadata.skip_cooldown', flags.skipCooldown],
  ];
  return fields
    .filter(([, value]) => value !== undefined)
    .map(([path, value]) => ({ path: path.split('.'), value }));
}

/** Fills in a domain only when the event has no other field that the service would take it from. */
function withBrand(
  body: JsonObject,
  { flags, brands }: { flags: EventFlags; brands: readonly NamedBrand[] },
): JsonObject {
  const wanted = body.brandId;
  const brand =
    wanted === undefined
      ? brands[0]
      : brands.find(({ brandId }) => brandId.toLowerCase() === String(wanted).toLowerCase());
  if (!brand) return body;
  const saysWhere = 'domain' in body || 'sourceUrl' in body || flags.origin !== undefined;
  return {
    brandId: brand.brandId,
    ...(saysWhere || brand.domain === undefined ? {} : { domain: brand.domain }),
    ...body,
  };
}

function demandEssentials(body: JsonObject): void {
  if (body.eventType === undefined) {
    throw usageError(
      'The event type is missing.',
      'Give it first: rewards send-event account_creation --user alice@demo.example',
    );
  }
  if (body.userEmail === undefined && body.userIdentifier === undefined) {
    throw usageError('The user who gets the reward is missing.', 'Add --user <email>.');
  }
  if (body.brandId === undefined) {
    throw usageError(
      'The brand is missing, and this target does not list its brands.',
      'Add --brand <id>, or set REWARDS_BRAND_ID; for an emulator of yours, set REWARDS_CONTROL_TOKEN.',
    );
  }
}
