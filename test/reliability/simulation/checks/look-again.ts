/** Asks once more what users could redeem, when everything has ended: nothing may be kept for what came to nothing. */
import type { JudgedRedemption } from '../../../../src/actions/perks/judge-redemption.ts';
import { PERK, USERS } from '../model/accounts.ts';
import type { World } from '../world.ts';

export async function lookAgain(world: World, drain: (world: World) => Promise<void>): Promise<void> {
  const { plan, replicas, findings, ledger, chain } = world;
  const [replica] = replicas;
  if (plan.perks.redemptions === 0 || !replica || findings.list.length > 0) return;
  const [read] = await ledger.rows<{ number: number }>('select max(number) as number from followed_blocks');
  const state = chain.blockAt(read?.number ?? 0)?.state.perks;
  if (!state) return;
  for (const user of USERS) {
    const held = state.held.get(user) ?? 0;
    const asked: { own?: JudgedRedemption; brands?: JudgedRedemption } = {};
    void replica
      .judgeRedemption(user, { by: 'token', of: user })
      .then((own) => Object.assign(asked, { own }));
    void replica.judgeRedemption(user, { by: 'none' }).then((brands) => Object.assign(asked, { brands }));
    await drain(world);
    const wanted =
      state.stock === 0 ? 'perk_sold_out' : held < PERK.cost ? 'insufficient_balance' : undefined;
    const told = asked.own?.refusal?.code;
    if (!asked.own || told !== wanted)
      findings.add(
        'no RWT kept for nothing',
        `${user} is told ${told}, with ${held} RWT, ${state.stock} left`,
      );
    if (wanted !== undefined) continue;
    const collectable = await collectableOf(world, user);
    const refusal = asked.brands?.refusal;
    const isRight =
      collectable >= PERK.cost
        ? asked.brands !== undefined && refusal === undefined
        : refusal?.code === 'consent_required' && refusal.collectable === collectable;
    if (!isRight)
      findings.add(
        'no RWT without its word',
        `${JSON.stringify(refusal)} where ${collectable} may be collected`,
      );
  }
}

/** What the brand has paid the user and not got back, as the chain shows it. */
async function collectableOf({ ledger, chain }: World, user: string): Promise<number> {
  const [read] = await ledger.rows<{ number: number }>('select max(number) as number from followed_blocks');
  let left = 0;
  for (const { number, payments, redemptions } of chain.canonical()) {
    if (number > (read?.number ?? 0)) break;
    for (const { brandId, to, amount } of payments)
      if (brandId === PERK.brandId && to === user) left += amount;
    for (const { wallet, isNew } of redemptions) if (wallet === user && isNew) left -= PERK.cost;
  }
  return Math.max(0, left);
}
