/** One bounded question to a brand's own server: may this buyer have this perk (contract: Constraint cache). */
import { type AskDeps, type AskLimits, ask } from '../outgoing/ask.ts';
import { sanitiseText } from '../rules/sanitise.ts';

export interface EligibilityQuestion {
  url: string;
  brandId: `0x${string}`;
  /** Lower case. */
  userAddress: `0x${string}`;
  /** The perk's id on chain. */
  collectionId: number;
}

/** `failed`: no answer, or one that is neither yes nor no; `why` is a sentence for people without its full stop. */
export type EligibilityAnswer =
  | { outcome: 'answered'; isMet: boolean; message: string | null }
  | { outcome: 'failed'; why: string };

/** A buyer waits for it. */
export const ELIGIBILITY_LIMITS: AskLimits = { connectMs: 2_000, totalMs: 5_000, bytesMax: 10_000 };
/** Shown to the buyer. */
const MESSAGE_MAX = 200;

/**
 * Asks with a POST of `{brand_id, user_address, collection_id}`; a 200 with `{"eligible": true}` is a yes, with
 * `{"eligible": false, "reason": "…"}` a no (`valid` and `message` are read as well). Never throws for what the server does.
 */
export async function askEligibility(
  deps: AskDeps & { limits?: AskLimits },
  { url, brandId, userAddress, collectionId }: EligibilityQuestion,
): Promise<EligibilityAnswer> {
  const body = { brand_id: brandId, user_address: userAddress, collection_id: collectionId };
  const answer = await ask(deps, {
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': 'Rewards-Constraints/1',
    },
    body: new TextEncoder().encode(JSON.stringify(body)),
    limits: deps.limits ?? ELIGIBILITY_LIMITS,
  });
  if (answer.outcome === 'failed') return { outcome: 'failed', why: answer.why };
  if (answer.status !== 200) return { outcome: 'failed', why: `it answered ${answer.status} instead of 200` };
  if (!answer.isComplete) return { outcome: 'failed', why: 'its answer was cut off' };
  return readEligibility(new TextDecoder().decode(answer.body));
}

function readEligibility(text: string): EligibilityAnswer {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { outcome: 'failed', why: 'its answer is not JSON' };
  }
  const { eligible, valid, reason, message } = (typeof body === 'object' && body !== null ? body : {}) as {
    [field: string]: unknown;
  };
  const isMet = eligible ?? valid;
  if (typeof isMet !== 'boolean')
    return { outcome: 'failed', why: 'its answer has no field eligible that is true or false' };
  const words = reason ?? message;
  const said = typeof words === 'string' ? sanitiseText(words).trim().slice(0, MESSAGE_MAX) : '';
  return { outcome: 'answered', isMet, message: isMet || said === '' ? null : said };
}
