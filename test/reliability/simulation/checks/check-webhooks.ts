/** Judges webhooks: every event arrives, by the schedule of the database's clock, whatever the machines' clocks say. */
import { attemptPausesMs } from '../../../../src/rules/webhook-schedule.ts';
import type { World } from '../world.ts';

const HALF_HOUR_MS = 1_800_000;
/** The longest pause, a fifth longer, in half hours. */
const LONGEST_WAIT = 58;
const JITTER = 0.2;

export async function checkWebhooks(world: World, drain: (world: World) => Promise<void>): Promise<void> {
  const { plan, findings, ledger, time } = world;
  if (plan.webhooks === 0 || findings.list.length > 0) return;
  const waiting = async () => {
    const rows = await ledger.rows<{ event_id: string }>(
      "select event_id from webhook_deliveries where state <> 'delivered'",
    );
    return rows.map(({ event_id: id }) => id);
  };
  for (let halves = 0; halves < LONGEST_WAIT && (await waiting()).length > 0; halves += 1) {
    time.advance(HALF_HOUR_MS);
    await drain(world);
    time.advance(2_000);
    await drain(world);
  }
  for (const id of await waiting()) findings.add('every webhook arrives', `${id} is still to be delivered`);
  for (const { id } of await ledger.rows<{ id: string }>('select id from webhook_events'))
    if (!world.arrived.has(id)) findings.add('every webhook arrives', `${id} never arrived`);
  await checkSchedule(world);
}

async function checkSchedule({ findings, ledger, failedPosts }: World): Promise<void> {
  const leases = await ledger.rows<Record<'at_ms' | 'due' | 'lease_until', number> & { event_id: string }>(
    'select * from sim_webhook_leases',
  );
  for (const { event_id: id, at_ms: at, due, lease_until: until } of leases) {
    if (at < due) findings.add('webhooks by their schedule', `${id} is taken ${due - at} ms too early`);
    if (at < until) findings.add('a lease holds for its time', `${id} is taken ${until - at} ms too early`);
  }
  const attempts = await ledger.rows<Record<'at_ms' | 'due' | 'tries', number> & { event_id: string }>(
    'select * from sim_webhook_attempts',
  );
  const counted = new Map<string, number>();
  for (const { event_id: id, at_ms: at, due, tries } of attempts) {
    counted.set(id, tries);
    const pauseMs = attemptPausesMs[tries] ?? 0;
    if (due - at < pauseMs * (1 - JITTER) - 1 || due - at > pauseMs * (1 + JITTER) + 1)
      findings.add('webhooks by their schedule', `${id} waits for ${due - at} ms after ${tries} tries`);
  }
  for (const [id, tries] of counted) {
    const failed = failedPosts.filter((one) => one === id).length;
    if (tries > failed)
      findings.add('webhooks by their schedule', `${id} burnt ${tries} tries with ${failed} posts`);
  }
}
