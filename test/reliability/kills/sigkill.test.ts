import { afterEach, expect, test } from 'vitest';
import { serve, temporaryDirectory } from '../../kits/service/cli.ts';
import { clientOf } from '../../kits/service/service.ts';

const EVENTS = 500;
const started: Awaited<ReturnType<typeof serve>>[] = [];
afterEach(async () => {
  for (const stack of started.splice(0)) if (stack.child.exitCode === null) await stack.stop('SIGKILL');
});

/** What the senders of events were told: an amount that was promised, or nothing that counts. */
async function blast(client: ReturnType<typeof clientOf>, tag: string) {
  const told = new Map<string, { wallet: string; eventId: string; hash: string }>();
  await Promise.all(
    Array.from({ length: EVENTS }, async (_, n) => {
      const userEmail = `${tag}-${n}@people.example`;
      const answer = await client.event({ userEmail }).catch(() => undefined);
      if (answer?.status !== 200) return;
      const { walletAddress: wallet, eventId, transactionHash: hash } = answer.body;
      told.set(userEmail, { wallet, eventId, hash });
    }),
  );
  return told;
}

test.each([60, 150, 300, 600])(
  'killed %i ms into 500 events: after a restart everyone who was told so is paid exactly once',
  async (killAfterMs) => {
    const { path: cwd, remove } = await temporaryDirectory();
    const first = await serve(['--port', '0', '--persist-to', 'data'], { cwd });
    started.push(first);
    const blasting = blast(clientOf(first.ready), `k${killAfterMs}`);
    await new Promise((resolve) => setTimeout(resolve, killAfterMs));
    await first.stop('SIGKILL');
    const told = await blasting;

    const second = await serve(['--port', '0', '--persist-to', 'data'], { cwd });
    started.push(second);
    const client = clientOf(second.ready);

    // Everyone asks again, told or not: nobody can be paid a second time.
    const again = await Promise.all(
      Array.from({ length: EVENTS }, (_, n) =>
        client.event({ userEmail: `k${killAfterMs}-${n}@people.example` }),
      ),
    );
    const repeated = again.filter(({ status }) => status === 409 || status === 429).length;
    const fresh = again.filter(({ status }) => status === 200);
    expect(repeated + fresh.length).toBe(EVENTS);

    await expect
      .poll(async () => [...(await client.payouts()).values()].flat().length, { interval: 100 })
      .toBe(EVENTS);
    const payouts = await client.payouts();
    for (const [recipient, amounts] of payouts) expect([recipient, amounts]).toEqual([recipient, [100n]]);
    for (const { wallet, hash } of told.values()) {
      expect(payouts.get(wallet)).toEqual([100n]);
      const receipt = await client.chain.getTransactionReceipt({ hash: hash as `0x${string}` });
      expect(receipt.status).toBe('success');
    }
    expect(await client.escrowOf(client.brand.brandId)).toBe(1_000_000n - BigInt(EVENTS * 100));
    await second.stop();
    await remove();
  },
  150_000,
);
