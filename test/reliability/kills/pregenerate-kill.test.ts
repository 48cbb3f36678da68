/** SIGKILL while wallets are given: afterwards everyone has one, the one that they were told, and nobody shares one. */
import { afterEach, expect, test } from 'vitest';
import { serve, temporaryDirectory } from '../../kits/service/cli.ts';

const PEOPLE = 90;
const ANSWER_MS = 10_000;
const started: Awaited<ReturnType<typeof serve>>[] = [];
afterEach(async () => {
  for (const stack of started.splice(0)) if (stack.child.exitCode === null) await stack.stop('SIGKILL');
});

test.each([5, 40, 120])(
  'killed %i ms into the calls',
  async (killAfterMs) => {
    const { path: cwd, remove } = await temporaryDirectory();
    const start = async () => {
      const stack = await serve(['--port', '0', '--persist-to', 'data'], { cwd });
      started.push(stack);
      return stack;
    };
    const ask = async (stack: Awaited<ReturnType<typeof serve>>, n: number) => {
      const response = await fetch(`${stack.ready.urls.register}/rewards-api/pregenerate-user`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        // Node's client may wait for ever for a server that is killed while it connects.
        signal: AbortSignal.timeout(ANSWER_MS),
        body: JSON.stringify({
          brand_id: stack.ready.brands[0].brandId,
          oauth_provider: 'discord',
          oauth_user_id: String(10n ** 17n + BigInt(n)),
          oauth_username: `user ${n}`,
        }),
      });
      return JSON.parse(await response.text());
    };
    const people = Array.from({ length: PEOPLE }, (_, n) => n);

    const first = await start();
    const asking = Promise.allSettled(people.map((n) => ask(first, n)));
    await new Promise((resolve) => setTimeout(resolve, killAfterMs));
    await first.stop('SIGKILL');
    const told = (await asking).map((one) => (one.status === 'fulfilled' ? one.value : undefined));

    const second = await start();
    const [again, once] = [
      await Promise.all(people.map((n) => ask(second, n))),
      await Promise.all(people.map((n) => ask(second, n))),
    ];
    for (const n of people) {
      expect(again[n]).toMatchObject({ success: true, wallet_address: expect.stringMatching(/^0x/) });
      expect(once[n]).toMatchObject({ ...again[n], created_new: false, message: expect.any(String) });
      if (told[n]) {
        const { wallet_address, idp_user_id } = told[n];
        expect(again[n]).toMatchObject({ wallet_address, idp_user_id, created_new: false });
      }
    }
    expect(new Set(again.map(({ wallet_address }) => wallet_address)).size).toBe(PEOPLE);
    expect(new Set(again.map(({ idp_user_id }) => idp_user_id)).size).toBe(PEOPLE);
    const demo = second.ready.users.map(({ address }: { address: string }) => address);
    for (const { wallet_address } of again) expect(demo).not.toContain(wallet_address);
    await second.stop();
    await remove();
  },
  60_000,
);
