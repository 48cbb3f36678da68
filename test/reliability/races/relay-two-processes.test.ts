/** contract: Limits, Relay transactions, when two processes share one database and everybody comes at once. */
import { beforeAll, expect, test } from 'vitest';
import { FREE_PERK, type RelayKit, relayKitOf } from '../../kits/chain/wallet.ts';
import { onTwoProcesses } from '../../kits/service/two-processes.ts';

const USERS = 10;
const EACH = 100;

onTwoProcesses((get) => {
  const kits: Awaited<ReturnType<typeof relayKitOf>>[] = [];
  beforeAll(async () => {
    for (const { ready } of [get().one, get().two]) kits.push(await relayKitOf(ready));
  }, 60_000);

  test(`${USERS * EACH} calls at once: 35 of each user, neither more nor fewer`, async () => {
    const [one, two] = kits as [RelayKit, RelayKit];
    // A token is of the process that issued it: everybody has one of each.
    const tokensOf = async (kit: RelayKit) =>
      Promise.all(Array.from({ length: USERS }, (_, n) => kit.keyless(`crowd-${n}@people.example`)));
    const users = await tokensOf(one);
    const others = await tokensOf(two);
    const answers = await Promise.all(
      users.flatMap((user, place) =>
        Array.from({ length: EACH }, async (_, n) => {
          const call = one.purchase(user.address);
          const { status, body } = await (n % 2
            ? one.relay(user, call)
            : two.relay(others[place] ?? user, call));
          return { user, status, code: body.code };
        }),
      ),
    );
    const codes = new Set(answers.map(({ code, status }) => code ?? status));
    expect([...codes].sort()).toEqual([200, 'RATE_LIMIT_EXCEEDED']);
    for (const user of users) {
      const own = answers.filter((answer) => answer.user === user);
      expect(own.filter(({ status }) => status === 200)).toHaveLength(35);
      expect(own.filter(({ code }) => code === 'RATE_LIMIT_EXCEEDED')).toHaveLength(EACH - 35);
      expect(await one.perksOf(user.address, FREE_PERK)).toBe(35n);
    }
  }, 120_000);
});
