/** Judges relayed calls, their permits and top-ups by the chain, and what was admitted and charged for them. */
import type { Hex } from 'viem';
import { GAS_WALLETS } from '../model/accounts.ts';
import { isForeign, type ModelReceipt, slotOf } from '../model/model-chain.ts';
import { RELAY_WINDOW_MS, USER_SHARE } from '../relaying.ts';
import type { World } from '../world.ts';
import type { Evidence } from './checks.ts';

interface RelayRow {
  position: number;
  id: string;
  lane: Hex;
  payer: string;
  user_address: Hex;
  recipient: Hex;
  data: Hex;
  gas: number;
  permit: string | null;
  reserved_gwei: number;
  budget_day: number;
  permit_transaction_id: string | null;
  transaction_id: string | null;
  charged_gwei: number;
  /** When it was admitted, by the clock of the database, and what was charged then, itself counted. */
  at_ms: number;
  payer_gwei: number;
  share_gwei: number;
}
interface TransactionRow {
  id: string;
  lane: Hex;
  nonce: number;
}

/** Something that a gas wallet is to send once. */
interface Part {
  what: string;
  lane: Hex;
  to: Hex;
  data: Hex;
  valueWei: bigint;
  transaction: TransactionRow | undefined;
}
type Executed = Map<string, { receipt: ModelReceipt; priceWei: bigint }>;

const nameOf = ({ to, data, valueWei }: Pick<Part, 'to' | 'data' | 'valueWei'>) =>
  `${to} ${data} ${valueWei}`;

export async function checkRelays(world: World, evidence: Evidence, ended: boolean): Promise<void> {
  if (world.plan.relays === 0) return;
  const { ledger } = world;
  const relays = await ledger.rows<RelayRow>(
    `select r.*, a.at_ms, a.payer_gwei, a.share_gwei from relays r
     join sim_admissions a on a.position = r.position order by r.position`,
  );
  const transactions = new Map(
    (await ledger.rows<TransactionRow>('select id, lane, nonce from transactions')).map((one) => [
      one.id,
      one,
    ]),
  );
  const bound = (id: string | null) => (id === null ? undefined : transactions.get(id));
  const partsOf = new Map(relays.map((relay) => [relay.position, callParts(relay, bound)]));
  const topUps = await ledger.rows<{
    lane: Hex;
    wallet: Hex;
    amount_wei: string;
    transaction_id: string | null;
  }>('select * from gas_top_ups');
  const parts = [
    ...[...partsOf.values()].flat(),
    ...topUps.map(({ lane, wallet: to, amount_wei, transaction_id }) => {
      const valueWei = BigInt(amount_wei);
      return {
        what: `top-up ${valueWei}`,
        lane,
        to,
        data: '0x' as Hex,
        valueWei,
        transaction: bound(transaction_id),
      };
    }),
  ];
  const executed = checkExecuted(world, evidence, { parts, ended });
  await checkBindings(world, relays, bound);
  checkAdmissions(
    world,
    relays.filter(({ id }) => !evidence.recovered.relays.has(id)),
  );
  await checkCharges(world, relays);
  if (ended) checkCosts(world, { relays, partsOf, executed });
  checkTold(world, evidence, relays);
}

function callParts(relay: RelayRow, bound: (id: string | null) => TransactionRow | undefined): Part[] {
  const { position, lane, recipient: to, data } = relay;
  const call = {
    what: `call ${position}`,
    lane,
    to,
    data,
    valueWei: 0n,
    transaction: bound(relay.transaction_id),
  };
  if (relay.permit === null) return [call];
  const permit = JSON.parse(relay.permit) as { to: Hex; data: Hex };
  const transaction = bound(relay.permit_transaction_id);
  return [
    { what: `permit ${position}`, lane, to: permit.to, data: permit.data, valueWei: 0n, transaction },
    call,
  ];
}

/** What gas wallets did on the chain: everything once that was asked for, and nothing else. */
function checkExecuted(
  { findings, sent }: World,
  { blocks, attempts }: Evidence,
  { parts, ended }: { parts: Part[]; ended: boolean },
): Executed {
  const wanted = new Map(parts.map((part) => [nameOf(part), part]));
  if (wanted.size < parts.length) findings.add('one call a key', 'a call was queued twice');
  const executed: Executed = new Map();
  const foreign = new Set<string>();
  for (const { entries, receipts, baseFeeWei } of blocks) {
    for (const [place, entry] of entries.entries()) {
      const receipt = receipts[place];
      if (!('transaction' in entry) || !receipt) continue;
      const { transaction } = entry;
      if (isForeign(transaction)) {
        foreign.add(slotOf(transaction));
        // A recovery has found it and keeps it for the call's own, with what it cost the wallet.
        if (attempts.some(({ hash }) => hash === transaction.hash))
          executed.set(slotOf(transaction), { receipt, priceWei: baseFeeWei });
      } else if (GAS_WALLETS.some(({ address }) => address === transaction.from)) {
        const name = nameOf(transaction);
        const part = wanted.get(name);
        if (part?.lane !== transaction.from) findings.add('no call without its request', name);
        if (executed.has(name)) findings.add('no call executed twice', part?.what ?? name);
        executed.set(name, { receipt, priceWei: baseFeeWei });
      }
    }
  }
  const under = new Map<string, string>();
  for (const [slot, [first]] of sent) {
    const name = first && nameOf(first);
    if (name === undefined || !wanted.has(name)) continue;
    if (under.has(name))
      findings.add('one nonce a call', `${wanted.get(name)?.what} is under ${under.get(name)} and ${slot}`);
    under.set(name, slot);
  }
  for (const part of ended ? parts : []) {
    if (executed.has(nameOf(part))) continue;
    const { transaction } = part;
    const isLost = transaction && foreign.has(slotOf({ from: transaction.lane, nonce: transaction.nonce }));
    if (!isLost) findings.add('no request without its call', `${part.what} is in no block`);
  }
  return executed;
}

async function checkBindings(
  { findings, ledger }: World,
  relays: RelayRow[],
  bound: (id: string | null) => TransactionRow | undefined,
): Promise<void> {
  const left = await ledger.rows<{ position: number }>('select * from sim_relay_bindings');
  for (const { position } of left) findings.add('one nonce a call', `call ${position} left its transaction`);
  for (const { position, lane, permit, permit_transaction_id, transaction_id } of relays) {
    const [before, call] = [bound(permit_transaction_id), bound(transaction_id)];
    if (call && call.lane !== lane) findings.add('one nonce a call', `call ${position} is in another lane`);
    if (permit === null || !call) continue;
    if (before?.lane !== call.lane || before.nonce !== call.nonce - 1)
      findings.add('a permit just before its call', `${before?.nonce} before ${call.nonce}`);
  }
}

/** By the moments at which the database admitted calls: a window begins with its first. */
function checkAdmissions({ findings, plan }: World, relays: RelayRow[]): void {
  const windows = new Map<Hex, { startedMs: number; used: number }>();
  const share = Math.floor(plan.gasBudgetGwei * USER_SHARE);
  for (const { user_address: user, payer, at_ms, payer_gwei, share_gwei, reserved_gwei } of relays) {
    const open = windows.get(user);
    const window = open && at_ms < open.startedMs + RELAY_WINDOW_MS ? open : { startedMs: at_ms, used: 0 };
    window.used += 1;
    windows.set(user, window);
    if (window.used > plan.relayLimit)
      findings.add('calls within their limits', `${user}: ${window.used} of ${plan.relayLimit}`);
    if (payer_gwei > plan.gasBudgetGwei)
      findings.add('calls within their limits', `${payer}: ${payer_gwei} gwei of ${plan.gasBudgetGwei}`);
    // A user who has spent nothing may make one call, whatever it costs.
    if (share_gwei > share && share_gwei > reserved_gwei)
      findings.add('calls within their limits', `${user}: ${share_gwei} gwei of ${share}`);
  }
}

/** Budgets and shares are the sums of what is charged for calls. */
async function checkCharges({ findings, ledger }: World, relays: RelayRow[]): Promise<void> {
  const charged = new Map<string, number>();
  for (const { payer, budget_day, user_address, charged_gwei } of relays)
    for (const name of [`${payer} ${budget_day}`, `${payer} ${budget_day} ${user_address}`])
      charged.set(name, (charged.get(name) ?? 0) + charged_gwei);
  const kept = await ledger.rows<{ name: string; spent: number }>(
    `select payer || ' ' || day as name, spent_gwei as spent from gas_budgets
     union all select payer || ' ' || day || ' ' || user_address, spent_gwei from gas_shares`,
  );
  const spent = new Map(kept.map((one) => [one.name, one.spent]));
  for (const name of new Set([...charged.keys(), ...spent.keys()])) {
    const [of, counted] = [charged.get(name) ?? 0, spent.get(name) ?? 0];
    if (of !== counted) findings.add('gas is charged right', `${name}: ${counted} gwei, calls ${of}`);
  }
}

/** What a call is charged at the end is what its blocks say. */
function checkCosts(
  { findings }: World,
  { relays, partsOf, executed }: { relays: RelayRow[]; partsOf: Map<number, Part[]>; executed: Executed },
): void {
  for (const { position, charged_gwei } of relays) {
    let wei = 0n;
    for (const part of partsOf.get(position) ?? []) {
      const { transaction: under } = part;
      const slot = under && slotOf({ from: under.lane, nonce: under.nonce });
      const found = executed.get(nameOf(part)) ?? (slot && executed.get(slot));
      if (found) wei += BigInt(found.receipt.gasUsed) * found.priceWei;
    }
    const gwei = Number((wei + 10n ** 9n - 1n) / 10n ** 9n);
    if (gwei !== charged_gwei)
      findings.add('gas is charged right', `call ${position} cost ${gwei} gwei, charged ${charged_gwei}`);
  }
}

/** Callers were told of transactions of their own calls, and of no refusal of a call that was queued. */
function checkTold(
  { findings, relayRequests, lost }: World,
  { attempts }: Evidence,
  relays: RelayRow[],
): void {
  const byData = new Map(relays.map((relay) => [relay.data, relay]));
  for (const { data, told, status, key } of relayRequests) {
    const relay = byData.get(data);
    if (told !== undefined && !lost.hashes.has(told)) {
      const attempt = attempts.find(({ hash }) => hash === told);
      if (!attempt || attempt.transaction_id !== relay?.transaction_id)
        findings.add('no answer without its call', `a caller was told of ${told}`);
    }
    if (status === 'refused' && key === undefined && relay)
      findings.add('no refusal with a call', `call ${relay.position} was refused and queued`);
  }
}
