/** Steps that look: at the chain, and at ledger and chain together. */

import { z } from 'zod';
import { invalidateConstraints } from '../../contract/control/constraints.ts';
import { clearFault, clearFaults, setFault } from '../../contract/control/faults.ts';
import * as mints from '../../contract/control/mints.ts';
import { restoreSnapshot, saveSnapshot } from '../../contract/control/snapshots.ts';
import { showWallet } from '../../contract/control/users.ts';
import { brandOf, controlBody, type StepContext, StepError, userNamed } from './step-context.ts';
import { brandField, duration, stepKind, text, textOrNumber, userField, whole } from './step-kind.ts';

export const chain = stepKind({
  about: 'Reads what an account owns on chain, whatever was answered',
  needs: 'chain',
  sees: {
    balance: 'what it owns now, as a text',
    delta: 'how much more that is than when the scenario began, as a text; not of perks',
    block: 'the newest block',
  },
  input: z
    .strictObject({
      rwtOf: userField().meta({ description: 'RWT of this user or address' }),
      escrowOf: text('RWT in the escrow of this brand: its id or domain'),
      perksOf: userField().meta({ description: 'perks of this user or address; needs `tokenId`' }),
      tokenId: textOrNumber('which perk'),
    })
    .partial()
    .refine(
      (wish) => ['rwtOf', 'escrowOf', 'perksOf'].filter((name) => name in wish).length <= 1,
      'takes one of rwtOf, escrowOf and perksOf',
    ),
  async run(context, { rwtOf, escrowOf, perksOf, tokenId }) {
    const view = context.chain();
    const block = await view.head();
    const amounts = (balance: bigint, delta: bigint) => ({ balance: String(balance), delta: String(delta) });
    if (escrowOf !== undefined) {
      const { brandId } = brandOf(context, escrowOf);
      const [now, before] = [await view.escrowOf(brandId), (await context.start()).escrow[brandId] ?? 0n];
      return { ...amounts(now, now - before), block };
    }
    const user = rwtOf ?? perksOf;
    if (user === undefined) return { block };
    const address = await addressOf(context, user);
    if (rwtOf !== undefined) {
      const { block: from } = await context.start();
      return { ...amounts(await view.rwtOf(address), await view.rwtSince(address, from)), block };
    }
    if (tokenId === undefined) throw new StepError('`perksOf` needs a `tokenId`');
    return { balance: String(await view.perksOf(address, BigInt(tokenId))), block };
  },
});

async function addressOf(context: StepContext, name: string): Promise<string> {
  if (/^0x[0-9a-fA-F]{40}$/.test(name)) return name;
  return controlBody(await context.client.call(showWallet, { path: { user: userNamed(context, name) } }))
    .address;
}

export const verify = stepKind({
  about: 'Compares ledger and chain: every RWT that was promised, minted or paid',
  needs: 'controls',
  sees: {
    ok: 'whether they agree',
    differences: 'where they do not',
    flagged: 'payments that a person should look at',
    checked: 'how many of each were compared',
  },
  input: z.union(
    [z.literal('all'), z.strictObject({ since: textOrNumber('a block, or an RFC 3339 time') })],
    {
      error: 'must be `all`, or { since: … }',
    },
  ),
  async run({ client }, wish) {
    const since = wish === 'all' ? {} : { since: String(wish.since) };
    return { ...controlBody(await client.call(mints.verify, { query: { limit: 100, ...since } })) };
  },
  failure: ({ ok, differences }) =>
    ok === true ? undefined : `ledger and chain differ: ${JSON.stringify(differences)}`,
});

export const invalidate = stepKind({
  about: 'Forgets what an external service has said about buyers of perks',
  needs: 'controls',
  sees: { invalidated: 'how many results counted until now' },
  input: z.strictObject({
    url: text('of the constraint'),
    user: userField().optional(),
    tokenId: z.int().optional().meta({ description: 'only results for this perk' }),
    brand: brandField(),
  }),
  async run(context, { url, user, tokenId, brand }) {
    const reply = await context.client.call(invalidateConstraints, {
      body: {
        brand: brandOf(context, brand).brandId,
        url,
        tokenId,
        user: user === undefined ? undefined : userNamed(context, user),
      },
    });
    return { ...controlBody(reply) };
  },
});

export const note = stepKind({
  about: 'Says something in the report',
  sees: {},
  input: text('what it says'),
  run: async () => ({}),
});

export const fault = stepKind({
  about: 'Lets a part of the world outside fail on purpose, as `rewards faults` does; or clears faults',
  needs: 'faults',
  sees: { id: 'of the fault', seam: 'what fails', effect: 'how', cleared: 'the faults that were cleared' },
  input: z
    .strictObject({
      seam: text('what fails, such as `node`'),
      effect: text('how, such as `away` or `slow:300ms`; default: the first of the seam'),
      times: whole('how many uses it strikes', { least: 1 }),
      for: duration('how long it stays set, on the clock of the stack'),
      clear: text('`all`, a seam, or the id of a fault'),
    })
    .partial()
    .refine((wish) => 'seam' in wish !== 'clear' in wish, 'takes a `seam` to set a fault, or `clear`'),
  async run({ client }, { seam = '', effect, times, for: lasting, clear }) {
    const { call } = client;
    if (clear === 'all') return { ...controlBody(await call(clearFaults)) };
    if (clear !== undefined) return { ...controlBody(await call(clearFault, { path: { name: clear } })) };
    return { ...controlBody(await call(setFault, { body: { seam, effect, times, for: lasting } })) };
  },
});

export const snapshot = stepKind({
  about: 'Saves the whole stack under a name: ledger, chain, payments, site and clock',
  needs: 'snapshots',
  sees: {
    name: 'of the snapshot',
    bytes: 'its size',
    chain: '`block` and `hash` of the newest block',
    clock: 'the time',
  },
  input: text('the name; an older snapshot of that name is replaced'),
  async run({ client }, name) {
    return { ...controlBody(await client.call(saveSnapshot, { body: { name, replace: true } })) };
  },
});

export const restore = stepKind({
  about: 'Brings the whole stack back to a snapshot',
  needs: 'snapshots',
  sees: {
    from: 'the snapshot',
    chain: '`block` and `hash` of the newest block',
    clock: '`now` and `frozen`',
  },
  input: text('the name of the snapshot'),
  async run({ client }, name) {
    return { ...controlBody(await client.call(restoreSnapshot, { body: { name } })) };
  },
});
