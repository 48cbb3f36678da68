/** Why the service decided as it did, as the emulator keeps it for each request. */
import { type RequestDetail, showRequest } from '../../contract/control/requests.ts';
import type { Client } from '../steps/step-context.ts';

export interface Decision {
  /** The check that refused, or `rewarded` and the like. */
  name: string | null;
  text: string;
}

/** Undefined where the target does not tell. */
export async function decisionOf(client: Client, requestId: string | null): Promise<Decision | undefined> {
  if (requestId === null) return undefined;
  const reply = await client.call(showRequest, { path: { id: requestId } }).catch(() => undefined);
  if (reply?.status !== 200 || !Array.isArray(reply.body?.explained)) return undefined;
  return read(reply.body);
}

function read({ explained, decision }: RequestDetail): Decision | undefined {
  const [first] = explained;
  const refused = first?.checks.find(({ outcome }) => outcome === 'refused');
  if (!refused) return decision === null ? undefined : { name: decision, text: decision };
  const passes =
    first?.passesAt == null
      ? first?.never
        ? '; waiting does not help'
        : ''
      : `; it passes at ${first.passesAt}`;
  return { name: refused.name, text: `${refused.name} refused: ${refused.text}${passes}` };
}
