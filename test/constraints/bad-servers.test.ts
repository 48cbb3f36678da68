/** Brands' own servers that hang or answer rubbish: what a hundred other brands and constraints ask is answered meanwhile. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createConstraints } from '../../src/compose/create-constraints.ts';
import { localAddresses } from '../../src/dns/system.ts';
import { atMs } from '../../src/ledger/database/database.ts';
import { constraintResults } from '../../src/ledger/schema/engagement/constraints.ts';
import { adjustableClock } from '../../src/lib/clock.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { silentLog } from '../../src/lib/log.ts';
import type { ConstrainedPurchase } from '../../src/rules/constraint.ts';
import { freshAddress, onEveryDatabase, signal } from '../kits/databases/databases.ts';
import { type Received, startReceiver } from '../kits/network/receivers.ts';

type Hex = `0x${string}`;

const START_MS = Date.UTC(2030, 0, 1);
const TTL_SECONDS = 60;
const OTHERS = 100;
/** More than one server is asked at once, so that some wait for their turn as well. */
const WAITING = 20;

onEveryDatabase(({ kind, kit }) => {
  let good: Awaited<ReturnType<typeof startReceiver>>;
  let bad: Awaited<ReturnType<typeof startReceiver>>;
  /** Ends the answers that hang. */
  let hang = signal();
  beforeAll(async () => {
    good = await startReceiver((_, response) => response.writeHead(200).end('{"eligible": true}'));
    bad = await startReceiver(async (request, response) => {
      if (request.url === '/hangs') await hang.given;
      if (request.url === '/drips') {
        response.writeHead(200).write('{"eligible": ');
        await hang.given;
      }
      if (request.url === '/cuts') return response.destroy();
      response.writeHead(200).end(request.url === '/endless' ? 'x'.repeat(1_000_000) : '<html>');
    });
  });
  afterAll(async () => {
    hang.give();
    await Promise.all([good.stop(), bad.stop()]);
  });

  const frozen = () => {
    const clock = adjustableClock({ frozen: true });
    clock.set(START_MS);
    return clock;
  };
  const open = (clock = frozen()) => {
    const { check } = createConstraints({
      database: kit().database,
      clock,
      random: secureRandom(clock),
      log: silentLog,
      businessTime: () => atMs(clock.now()),
      rpc: () => Promise.reject(new Error('no chain is asked here')),
      facts: {
        chainId: 7,
        genesisHash: `0x${'0'.repeat(64)}`,
        deploymentBlock: 1,
        contracts: {
          token: freshAddress(),
          escrow: freshAddress(),
          perks: freshAddress(),
          pointsSale: freshAddress(),
        },
      },
      outgoing: { reach: { to: 'any' }, addressesOf: localAddresses },
    });
    return check;
  };
  const at = ({ port }: { port: number }, path: string) => `http://127.0.0.1:${port}${path}`;
  const purchase = (brandId: Hex, url: string): ConstrainedPurchase => ({
    brandId,
    tokenId: 7,
    buyer: { address: freshAddress(), userKey: 'user' },
    constraints: [{ type: 'external_api', url, ttlSeconds: TTL_SECONDS }],
  });

  test.each(['/hangs', '/drips', '/endless', '/cuts', '/rubbish'])(
    'one whose server %s costs a hundred others nothing, at first and when what is known has expired',
    async (path) => {
      await kit().database.db.delete(constraintResults);
      hang = signal();
      const clock = frozen();
      const theirs = freshAddress();
      const others = Array.from({ length: OTHERS }, (_, place) =>
        // Every second one is another constraint of the brand whose server is bad.
        purchase(place % 2 ? theirs : freshAddress(), at(good, `/of/${place}`)),
      );
      const asked = () =>
        good.received
          .splice(0)
          .map(({ path: one }: Received) => one)
          .sort();
      const paths = others.map((_, place) => `/of/${place}`).sort();
      asked();
      let behind = 0;
      for (const round of ['at first', 'once that has expired']) {
        // A process of its own: this one leaves a server alone that has just failed.
        const check = open(clock);
        bad.received.splice(0);
        let told = 0;
        const stuck = Array.from({ length: WAITING }, () =>
          check(purchase(theirs, at(bad, path))).then((unmet) => {
            told += 1;
            return unmet;
          }),
        );
        await expect.poll(() => bad.received.length).toBeGreaterThan(0);
        const verdicts = await Promise.all(others.map(check));
        expect(verdicts, round).toEqual(others.map(() => []));
        // Each was asked once, as without anybody before them.
        expect(asked(), round).toEqual(paths);
        if (path === '/hangs' || path === '/drips') {
          expect(told, `${round}: nobody of the others has waited for the bad server`).toBe(0);
          behind += WAITING;
        }
        hang.give();
        for (const unmet of await Promise.all(stuck))
          expect(unmet).toMatchObject([{ reason: 'external_api_unavailable' }]);
        hang = signal();
        clock.advance(TTL_SECONDS * 1_000);
      }
      console.info(`${path} on ${kind}: ${2 * OTHERS} asked once each in front of ${behind} that waited`);
      // What is kept is theirs whom it was said of.
      const kept = await kit().database.db.select().from(constraintResults);
      expect(kept.filter(({ isMet }) => isMet)).toHaveLength(OTHERS);
    },
  );

  test('brands that name the same server wait for no turn of each other', async () => {
    hang = signal();
    const check = open();
    bad.received.splice(0);
    const url = at(bad, '/hangs');
    const asked = Array.from({ length: WAITING }, () => check(purchase(freshAddress(), url)));
    await expect.poll(() => bad.received.length).toBe(WAITING);
    hang.give();
    await Promise.all(asked);
  });
});
