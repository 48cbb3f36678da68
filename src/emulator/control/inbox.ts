/** The emulator's receiver of the service's own webhooks: verifies what comes, and keeps the latest. */
import type { InboxDelivery } from '../../contract/control/inbox.ts';
import type { ControlInboxDeps } from '../../http/control/webhooks.ts';
import type { Database } from '../../ledger/database/database.ts';
import { endpointsAt, type WebhookEndpoint } from '../../ledger/webhooks/endpoints.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import { verifyWebhook, type WebhookVerdict } from '../../webhooks/signatures.ts';
import { emulatorLimits } from '../limits.ts';
import { createRequestLog } from './request-log.ts';

interface Kept extends InboxDelivery {
  /** The log adds it up. */
  requestBody: string;
}

export function createInbox(deps: {
  database: Database;
  clock: Clock;
  /** The clock that signatures are judged by: they carry the time of the machine, which the emulator never moves. */
  realClock: Pick<Clock, 'now'>;
  random: Random;
}): ControlInboxDeps['inbox'] {
  const { database, clock, realClock, random } = deps;
  const log = createRequestLog<Kept>(emulatorLimits.inbox);
  return {
    async receive({ url, headers, body }) {
      const judged = judge(await endpointsAt(database.db, url), (secret) =>
        verifyWebhook({ secret, headers, body, nowSeconds: Math.floor(realClock.now() / 1_000) }),
      );
      const rawBody = new TextDecoder().decode(body);
      log.add({
        id: `in_${random.uuid()}`,
        receivedAt: new Date(clock.now()).toISOString(),
        brandId: judged?.brandId ?? null,
        headers,
        body: jsonOf(rawBody),
        rawBody,
        signature: judged?.verdict ?? null,
        requestBody: rawBody,
      });
    },
    list: (choice) =>
      log.list({ ...choice, keep: () => true }).map(({ requestBody: _, ...delivery }) => delivery),
  };
}

const formsRight = ({ bare, timestamped, standard }: WebhookVerdict) =>
  [bare, timestamped, standard].filter((form) => form === 'valid').length;

/** Several endpoints may have the address: the delivery is of the one whose secret fits best. */
function judge(endpoints: WebhookEndpoint[], verify: (secret: string) => WebhookVerdict) {
  const judged = endpoints.flatMap(({ brandId, secret, previousSecret }) =>
    [secret, ...(previousSecret ? [previousSecret] : [])].map((one) => ({ brandId, verdict: verify(one) })),
  );
  return judged.sort((one, other) => formsRight(other.verdict) - formsRight(one.verdict))[0];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
