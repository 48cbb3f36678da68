/** Judges what follows from booked payouts: boards and webhooks are what the chain shows, whatever it took back meanwhile. */
import type { World } from '../world.ts';
import type { Evidence } from './checks.ts';

export async function checkConsumers(world: World, { rewards, blocks }: Evidence): Promise<void> {
  const { plan, findings, ledger } = world;
  if (!plan.consumes) return;
  const known = new Map(rewards.map((reward) => [reward.sequence, reward]));
  const paid = new Map<string, { rwt: number; claims: number }>();
  const told = new Set<string>();
  const [listener] = await ledger.rows<{ brand_id: string }>('select brand_id from webhook_endpoints');
  for (const { payments } of blocks) {
    for (const { sequence, brandId, amount } of payments) {
      const reward = known.get(sequence);
      const key = `${brandId} ${reward?.user_key}`;
      const { rwt, claims } = paid.get(key) ?? { rwt: 0, claims: 0 };
      paid.set(key, { rwt: rwt + amount, claims: claims + 1 });
      if (brandId === listener?.brand_id && reward) told.add(reward.id);
    }
  }
  const scores = await ledger.rows<{ key: string; rwt: number; claims: number }>(
    `select l.brand_id || ' ' || s.user_key as key, s.rwt_earned as rwt, s.claims
     from leaderboard_scores s join leaderboards l on l.id = s.board_id
     where l.period = 'all' and l.platform = ''`,
  );
  const shown = new Map(scores.map(({ key, ...score }) => [key, score]));
  for (const key of new Set([...paid.keys(), ...shown.keys()])) {
    const [is, should] = [shown.get(key), paid.get(key)].map(
      (one) => `${one?.claims ?? 0}: ${one?.rwt ?? 0}`,
    );
    if (is !== should) findings.add('each fact has its effect once', `${key} has ${is} instead of ${should}`);
  }
  const aside = await ledger.rows<{ error: string }>('select error from consumer_set_aside');
  for (const { error } of aside) findings.add('no fact set aside', error);
  if (plan.webhooks > 0) return;
  const queued = await ledger.rows<{ subject: string }>(
    "select subject from webhook_events where type = 'reward.distributed'",
  );
  const subjects = new Set(queued.map(({ subject }) => subject));
  // Of what a recovery wrote, the service whose ledger was lost has told the brand, or may have.
  const recovered = await ledger.rows<{ id: string }>(
    `select r.id from rewards r join recovered_rows w on w.kind = 'transaction' and w.row_id = r.transaction_id`,
  );
  const toldBefore = new Set(recovered.map(({ id }) => id));
  for (const id of told)
    if (!subjects.has(id) && !toldBefore.has(id))
      findings.add('each fact has its effect once', `nobody is told of ${id}`);
  for (const id of subjects)
    if (!told.has(id)) findings.add('each fact has its effect once', `${id} is told of and not paid`);
}
