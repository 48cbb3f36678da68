/**
 * What is asked of a service beside events, on every lane: redemptions of what the brand has paid, paid checkouts, calls
 * for the relay, mints by an operator, changed terms of a perk, and webhooks to a receiver that outlives the service.
 * Whoever is told nothing clear asks again, in the next life too.
 */
import { randomBytes } from 'node:crypto';
import { encodeFunctionData, getAddress, type Hex, maxUint256, type PrivateKeyAccount, toHex } from 'viem';
import { perkNFTAbi, pointsSaleAbi, rewardTokenAbi } from '../../../src/chain/contracts/abis.ts';
import { sessionMintKey } from '../../../src/chain/contracts/sale-mint.ts';
import type { Ready } from '../../../src/stack/ready.ts';
import { devAccount } from '../../kits/chain/dev-accounts.ts';
import { heldOnChain, redeemBody, redeemedOnChain, WALLPAPERS } from '../../kits/chain/redeeming.ts';
import { signTransfer, tokenDomain } from '../../kits/chain/wallet.ts';
import { startReceiver } from '../../kits/network/receivers.ts';
import { type Answer, clientOf } from '../../kits/service/service.ts';
import { pause } from './load.ts';
import type { Stage } from './stage.ts';

type Client = ReturnType<typeof clientOf>;

/** Something that is asked for until a clear answer comes. */
interface Order {
  lane: 'redeem' | 'pay' | 'relay' | 'mint' | 'terms';
  /** Undefined: not yet. */
  send(client: Client): Promise<Answer | undefined>;
  done: boolean;
  last?: string;
  /** What is not as it was promised once all is over. */
  violations(client: Client): Promise<string[]>;
}

/** One person a lane sends these in each life, so that the chain is busy and the budgets of the relay suffice. */
const ORDERS_PER_LIFE = 5;
const PAUSE_MS = 60;
/** For what hangs: a delivery that a killed process had begun is tried again when its lease is over. */
const CALM_MAX_MS = 60_000;
const MINT_AMOUNT = 7;
const CENTS = 500;
const RWT_PER_CENT = 10n;
/** The second perk of the demo, which nobody here buys. */
const REPRICED = { tokenId: 2, cost: 250 };
const relayUsers = [0, 1, 2].map((addressIndex) => ({
  email: `${['alice', 'bob', 'carol'][addressIndex]}@demo.example`,
  account: devAccount({ accountIndex: 1, addressIndex }) as unknown as PrivateKeyAccount,
}));

const freshAccount = (): Hex => toHex(randomBytes(20));

export type Customers = Awaited<ReturnType<typeof startCustomers>>;

export async function startCustomers(stage: Stage) {
  const receiver = await startReceiver();
  const url = `http://127.0.0.1:${receiver.port}/`;
  const orders: Order[] = [];
  const turns = { redeem: 0, pay: 0, relay: 0, mint: 0, terms: 0 };
  const make: Record<Order['lane'], () => Order | undefined> = {
    redeem: () => redemption(stage, turns.redeem++),
    pay: () => payment(turns.pay++),
    relay: () => relayedTransfer(turns.relay++),
    mint: operatorMint,
    terms: () => changedTerms(turns.terms++),
  };

  const attempt = async (client: Client, order: Order) => {
    const answer = await order.send(client).catch(() => undefined);
    order.last = answer ? `${answer.status} ${JSON.stringify(answer.body)}` : 'no answer';
    order.done = answer?.status === 200 || answer?.status === 201;
  };

  return {
    /** Orders of every lane until `going` ends; open ones of earlier lives come first. */
    async ask(ready: Ready, going: () => boolean): Promise<void> {
      const client = clientOf(ready);
      await listen(client, url).catch(() => undefined);
      await Promise.all(
        (Object.keys(make) as Order['lane'][]).map(async (lane) => {
          const open = orders.filter((one) => one.lane === lane && !one.done);
          for (let n = 0; n < ORDERS_PER_LIFE && going(); n++) {
            const order = open.shift() ?? make[lane]();
            if (order && !orders.includes(order)) orders.push(order);
            while (order && !order.done && going()) {
              await attempt(client, order);
              await pause(PAUSE_MS);
            }
            await pause(PAUSE_MS);
          }
        }),
      );
    },
    /** Asks until every order has its answer; returns what the chain, the ledger and the receiver say against it. */
    async verdict(ready: Ready): Promise<string[]> {
      const client = clientOf(ready);
      const giveUpAt = Date.now() + CALM_MAX_MS;
      while (orders.some(({ done }) => !done) && Date.now() < giveUpAt) {
        await Promise.all(orders.filter(({ done }) => !done).map((order) => attempt(client, order)));
        await pause(PAUSE_MS);
      }
      for (;;) {
        const violations = await violationsNow(client);
        if (violations.length === 0 || Date.now() > giveUpAt) return violations;
        await pause(250);
      }
    },
    counts: () => ({
      ...Object.fromEntries(
        Object.keys(make).map((lane) => [lane, orders.filter((one) => one.lane === lane && one.done).length]),
      ),
      webhooks: new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size,
    }),
    stop: receiver.stop,
  };

  async function violationsNow(client: Client): Promise<string[]> {
    const { body } = await client.request(`${client.ready.urls.control}/verify`);
    const open = orders.filter(({ done }) => !done);
    const wrong = await Promise.all(orders.filter(({ done }) => done).map((one) => one.violations(client)));
    return [
      ...(body.ok === true ? [] : [`verify: ${JSON.stringify(body).slice(0, 2_000)}`]),
      ...open.map(({ lane, last }) => `an order of the lane ${lane} was never done: ${last}`),
      ...wrong.flat(),
      ...(await silent(client)),
      ...(await unsold(client)),
    ];
  }

  /** Webhooks that have not arrived, and rewards that nobody was told of. */
  async function silent(client: Client): Promise<string[]> {
    const { body } = await client.request(`${client.ready.urls.control}/webhooks/endpoints`);
    const ours = body.endpoints.filter((one: { url: string }) => one.url === url);
    const ids = new Set(ours.map(({ id }: { id: string }) => id));
    const deliveries = await stage.ledger().webhooks();
    const failed = await stage.ledger().failedAttempts();
    const arrived = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    const told = new Set(
      deliveries.filter(({ type }) => type === 'reward.distributed').map(({ subject }) => subject),
    );
    const rewards = await stage.ledger().rewards();
    return [
      ...deliveries
        .filter(({ state }) => state !== 'delivered')
        .map(({ eventId, endpointId, state, url: to }) => {
          const tries = failed.filter((one) => one.eventId === eventId && one.endpointId === endpointId);
          return `the webhook ${eventId} to ${to} is ${state} after ${JSON.stringify(tries)}`;
        }),
      ...deliveries
        .filter((one) => ids.has(one.endpointId) && !arrived.has(one.eventId))
        .map(({ eventId }) => `the webhook ${eventId} never arrived`),
      ...rewards
        .filter(({ id, failure }) => failure === null && !told.has(id))
        .map(({ id }) => `no webhook tells of the reward ${id}`),
    ];
  }

  /** More on the chain than was ordered: redemptions and transfers are each somebody's order. */
  async function unsold(client: Client): Promise<string[]> {
    const { perks, collected } = await redeemedOnChain(client);
    const wanted = orders.filter(({ lane }) => lane === 'redeem').length;
    return perks.length === wanted && collected.length === wanted
      ? []
      : [`${perks.length} perks and ${collected.length} debits for ${wanted} redemptions`];
  }
}

/** The endpoint of the test's own receiver, once. */
async function listen(client: Client, url: string): Promise<void> {
  const { body } = await client.request(`${client.ready.urls.control}/webhooks/endpoints`);
  if (body.endpoints.some((one: { url: string }) => one.url === url)) return;
  await client.control('/webhooks/endpoints', { brand: client.brand.domain, url });
}

/** A user who was told of a reward redeems it, by what the brand has paid them. */
function redemption(stage: Stage, turn: number): Order | undefined {
  const users = new Map(stage.calls.flatMap((one) => (one.kind === 'ok' ? [[one.user, one.wallet]] : [])));
  const [user, wallet] = [...users][turn] ?? [];
  if (!user) return undefined;
  const headers = { 'idempotency-key': `redeem-${user}` };
  return {
    lane: 'redeem',
    done: false,
    send: (client) => client.post('/perks/redeem', redeemBody(client, user, WALLPAPERS.id), headers),
    async violations(client) {
      const held = await heldOnChain(client, wallet as Hex, WALLPAPERS.tokenId);
      const left = await client.balanceOf(wallet as Hex);
      return held === 1n && left === 50n ? [] : [`${user} redeemed once, has ${held} perks and ${left} RWT`];
    },
  };
}

/** A checkout that is paid at the processor and asked to be minted. */
function payment(turn: number): Order {
  const headers = { 'idempotency-key': `checkout-${process.pid}-${turn}` };
  let sessionId: string | undefined;
  return {
    lane: 'pay',
    done: false,
    async send(client) {
      const { brandId, domain, apiKey } = client.brand;
      if (sessionId === undefined) {
        const body = {
          brandId,
          amount: CENTS,
          userEmail: 'buyer@people.example',
          successUrl: `https://${domain}/thanks`,
          cancelUrl: `https://${domain}/cart`,
        };
        const authorization = `Bearer ${apiKey}`;
        const made = await client.post('/rewards-api/create-checkout', body, { authorization, ...headers });
        if (made.status !== 200) return made;
        sessionId = made.body.sessionId as string;
      }
      // Paid already where the answer was lost.
      await client.control(`/processor/sessions/${sessionId}/pay`, {});
      return client.post('/rewards-api/payment-mint', { sessionId });
    },
    async violations(client) {
      const address = client.ready.contracts.pointsSale as Hex;
      const events = await client.chain.getContractEvents({ address, abi: pointsSaleAbi, fromBlock: 0n });
      const key = sessionMintKey(sessionId ?? '');
      const minted = events.filter(
        ({ args, eventName }) => eventName === 'Minted' && (args as { key?: string }).key === key,
      );
      const amounts = minted.map(({ args }) => (args as { amount?: bigint }).amount);
      const isRight = amounts.length === 1 && (amounts[0] ?? 0n) === BigInt(CENTS) * RWT_PER_CENT;
      return isRight ? [] : [`the session ${sessionId} was paid once, and minted ${amounts.join(', ')}`];
    },
  };
}

/**
 * A transfer that its owner signed, to an account of its own. Where blocks are taken back, it may come into a block before the
 * RWT that it needs; then it has failed for good, and its owner signs another one.
 */
function relayedTransfer(turn: number): Order {
  const { email, account } = relayUsers[turn % relayUsers.length] as (typeof relayUsers)[number];
  const failed: Hex[] = [];
  let to = freshAccount();
  let signed: Record<string, unknown> | undefined;
  return {
    lane: 'relay',
    done: false,
    async send(client) {
      const token = client.ready.contracts.token as Hex;
      if ((await client.balanceOf(account.address)) === 0n)
        await client.control('/mints', { to: account.address, amount: 100, reason: 'for transfers' });
      if (!signed) {
        const nonce = toHex(randomBytes(32));
        const wish = { from: account.address, to, value: 1n, validAfter: 0n, validBefore: 2n ** 48n, nonce };
        const domain = tokenDomain(token, client.ready.chain.id);
        const { v, r, s } = await signTransfer(account, domain, wish);
        const data = encodeFunctionData({
          abi: rewardTokenAbi,
          functionName: 'transferWithAuthorization',
          args: [account.address, to, 1n, 0n, 2n ** 48n, nonce, v, r, s],
        });
        signed = { userAddress: account.address, to: token, data };
      }
      const issued = await client.control('/tokens', { user: email, expires: '7d' });
      const answer = await client.post(`${client.ready.urls.relay}/relay`, signed, {
        authorization: `Bearer ${issued.body.token}`,
        origin: `https://${client.brand.domain}`,
        'idempotency-key': `transfer-${to}`,
      });
      if (answer.body?.details?.reason === 'reverted') {
        failed.push(to);
        to = freshAccount();
        signed = undefined;
      }
      return answer;
    },
    async violations(client) {
      const wrong = await Promise.all(
        [to, ...failed].map(async (account) => {
          const got = await client.balanceOf(account);
          // Blocks that are taken back once more may be kinder to what failed.
          const isRight = got === 1n || (got === 0n && account !== to);
          return isRight ? [] : [`a relayed transfer of 1 RWT to ${account} brought ${got}`];
        }),
      );
      return wrong.flat();
    },
  };
}

/** RWT that an operator mints. Each try is a mint of its own, so that each has an account of its own. */
function operatorMint(): Order {
  const tries: { to: Hex; isTold: boolean }[] = [];
  return {
    lane: 'mint',
    done: false,
    async send(client) {
      const one = { to: freshAccount(), isTold: false };
      tries.push(one);
      const answer = await client.control('/mints', { to: one.to, amount: MINT_AMOUNT, reason: 'a test' });
      one.isTold = answer.status === 201;
      return answer;
    },
    async violations(client) {
      const wrong = await Promise.all(
        tries.map(async ({ to, isTold }) => {
          const got = await client.balanceOf(to);
          const isRight = got === BigInt(MINT_AMOUNT) || (got === 0n && !isTold);
          return isRight ? [] : [`${getAddress(to)} was minted ${got} RWT, told: ${isTold}`];
        }),
      );
      return wrong.flat();
    },
  };
}

/** Another price for a perk; the contract ends with what the ledger has. */
function changedTerms(turn: number): Order {
  const path = `/perks/${REPRICED.tokenId}`;
  return {
    lane: 'terms',
    done: false,
    send: (client) => client.change(path, { cost: REPRICED.cost + turn }),
    async violations(client) {
      const { body } = await client.request(`${client.ready.urls.control}/perks`);
      const perk = body.perks.find(({ tokenId }: { tokenId: number }) => tokenId === REPRICED.tokenId);
      const { price, stock } = await client.chain.readContract({
        address: client.ready.contracts.perks as Hex,
        abi: perkNFTAbi,
        functionName: 'perkOf',
        args: [BigInt(REPRICED.tokenId)],
      });
      const isRight = perk.terms === 'on_chain' && price === BigInt(perk.cost) && stock === maxUint256;
      return isRight
        ? []
        : [`the perk costs ${perk.cost} (${perk.terms}), and ${price} on the chain, stock ${stock}`];
    },
  };
}
