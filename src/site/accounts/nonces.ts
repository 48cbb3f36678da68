/** Nonces: proof that a request comes from a page that the site made for this very caller, not long ago. */
import { createHmac } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import { siteSettings } from '../config.ts';
import type { SiteStore } from '../store.ts';
import { isSameText } from './stored-secrets.ts';
import { type Caller, type NonceAction, userOf } from './users.ts';

/** 128 bits in hex. */
const LENGTH = 32;

export function createNonces(deps: { store: SiteStore; clock: Clock; random: Random }) {
  const secret = keptSecret(deps);
  const tick = () => Math.floor(deps.clock.now() / siteSettings.nonceTickMs);
  const nonceAt = (
    caller: Exclude<Caller, { by: 'application_password' }>,
    action: NonceAction,
    at: number,
  ) =>
    createHmac('sha256', secret)
      .update([caller.nonceKey, userOf(caller)?.id ?? 0, action, at].join('|'))
      .digest('hex')
      .slice(0, LENGTH);
  return {
    /** Empty for a program, which needs none, and for a guest without a visitor cookie. */
    nonceFor: (caller: Caller, action: NonceAction): string =>
      caller.by === 'application_password' || caller.nonceKey === '' ? '' : nonceAt(caller, action, tick()),
    /** Good in the tick in which it was made and in the next. */
    isNonce(caller: Caller, action: NonceAction, nonce: string): boolean {
      if (caller.by === 'application_password' || caller.nonceKey === '') return false;
      return [tick(), tick() - 1].some((at) => isSameText(nonceAt(caller, action, at), nonce));
    },
  };
}

/** Made at the first start, and the same from then on: pages stay good over a restart. */
function keptSecret({ store, random }: { store: SiteStore; random: Random }): string {
  store
    .prepare("insert into settings (name, value) values ('nonce_secret', ?) on conflict do nothing")
    .run(Buffer.from(random.bytes(32)).toString('hex'));
  const kept = store
    .prepare<[], { value: string }>("select value from settings where name = 'nonce_secret'")
    .get();
  return kept?.value ?? '';
}
