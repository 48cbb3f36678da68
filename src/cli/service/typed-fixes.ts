/** What to type after a refusal whose own text names what a program would send: a header, or a request. */
import { isObject } from './assignments.ts';

type Details = Record<string, unknown>;

const KEY_FILE = "Name the file with the brand's key: `--api-key-file <path>`, or set REWARDS_API_KEY.";
const NOT_THIS_SERVICE =
  'Another version of the service answers there, or another program: `rewards status` asks each part.';

/** By the reason of the refusal, as `reasonsOf` spells it. */
const fixes: Record<string, string | ((details: Details) => string | undefined)> = {
  api_key_required: KEY_FILE,
  brand_key_required: KEY_FILE,
  unknown_endpoint: NOT_THIS_SERVICE,
  // Of an endpoint; a call that is not known has no path.
  not_found: ({ path }) => (path === undefined ? undefined : NOT_THIS_SERVICE),
  consent_required:
    'Redeem it as the user: `--as USER`, with `--permit` for a permit; or raise what the brand has paid them.',
  redemption_not_found: '`rewards redemptions list` shows all.',
  perk_not_found: '`rewards perks list` shows what each brand offers.',
  redemption_pending:
    'It is recorded, and comes once: the chain is late. `rewards perks redemptions` shows when it has come.',
  confirmation_timeout: ({ transactionHash }) =>
    `Do not send it again: \`rewards relay status ${transactionHash}\` says when a block holds it.`,
  idempotency_key_reused: 'Take another --idempotency-key, or send what was sent under this one.',
  request_in_progress: 'The first request under this --idempotency-key is not answered yet: try again.',
  database_unavailable:
    'The ledger cannot be reached. Try again later: with --idempotency-key it is recorded once.',
  processor_object_not_found: '`rewards checkout list` and `rewards webhooks list` show what there is.',
  processor_refused: '`rewards checkout list` shows how each session stands.',
};

/** The fix of the first of these reasons that has one; `said` is what the answer itself says. */
export function typedFix(
  reasons: readonly string[],
  { details, said }: { details: unknown; said: string | undefined },
): string | undefined {
  for (const reason of reasons) {
    const fix = fixes[reason];
    const typed = typeof fix === 'function' ? fix(isObject(details) ? details : {}) : fix;
    if (typed !== undefined) return typed;
  }
  return said;
}
