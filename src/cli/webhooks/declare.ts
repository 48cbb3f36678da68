/** `rewards webhooks`: the group; each of its parts declares its own verbs. */
import type { Catalog } from '../machine/catalog.ts';
import { declareInbox } from './inbox/declare.ts';
import { declareSignatures } from './signatures/declare.ts';

export function declareWebhooks({ parent, lazily }: Catalog): void {
  const webhooks = parent
    .command('webhooks')
    .summary('sign and verify webhooks, and find out why a signature does not verify')
    .description(
      'Events that the payment processor sends, and those that the service sends to brands. Both are signed; what a receiver must check is the bytes as they came.',
    );
  for (const declare of [declareSignatures, declareInbox]) declare({ parent: webhooks, lazily });
}
