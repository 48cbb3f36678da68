/** `rewards webhooks`: the group; each of its parts declares its own verbs. */
import type { Catalog } from '../machine/verb.ts';
import { declareEvents } from '../talk/webhooks/commands.ts';
import { declareInbox } from './inbox/declare.ts';
import { declareDeliveries, declareEndpoints } from './outbound/declare.ts';
import { declareSignatures } from './signatures/declare.ts';

export function declareWebhooks({ parent, lazily }: Catalog): void {
  const webhooks = parent
    .command('webhooks')
    .summary('look at webhooks, tell brands where they go, deliver them again, sign and verify them')
    .description(
      'Events that the payment processor sends, and those that the service sends to brands. Both are signed; what a receiver must check is the bytes as they came.',
    );
  for (const declare of [declareEvents, declareEndpoints, declareDeliveries, declareInbox, declareSignatures])
    declare({ parent: webhooks, lazily });
}
