/** What the service knows of a permit by asking the token: fresh, used a while ago, or not its owner's. */
import type { Hex } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createPermitReader, type Permit } from '../../src/chain/contracts/permit.ts';
import { type Rpc, RpcUnreachableError } from '../../src/chain/rpc/rpc.ts';
import { type Kit, people, startKit } from './kit.ts';

const { alice, stranger } = people;
let kit: Kit;
beforeAll(async () => {
  kit = await startKit();
});
afterAll(() => kit.anvil.stop());
beforeEach(() => kit.reset());

const lower = (address: string) => address.toLowerCase() as Hex;
async function sign(value: bigint): Promise<Permit> {
  const [deadlineSeconds, v, r, s] = await kit.permit(alice, kit.perks.address, value);
  return {
    owner: lower(alice.address),
    spender: lower(kit.perks.address),
    value,
    deadlineSeconds,
    v: v as 27,
    r,
    s,
  };
}
const use = ({ owner, spender, value, deadlineSeconds, v, r, s }: Permit) =>
  kit.mined(kit.token.write.permit([owner, spender, value, deadlineSeconds, v, r, s], kit.by(stranger)));

test('a permit that was used up to five permits ago counts as used, an older one as not signed', async () => {
  const read = createPermitReader({ rpc: kit.rpc, token: kit.token.address });
  const first = await sign(1n);
  expect(await read(first)).toEqual({ state: 'fresh' });
  await use(first);
  for (let later = 2n; later <= 5n; later++) await use(await sign(later));
  expect(await read(first)).toEqual({ state: 'used', allowance: 5n });
  await use(await sign(6n));
  expect(await read(first)).toEqual({ state: 'not_signed' });
});

test("a node that fails at the first look at the token's domain is asked again", async () => {
  const DOMAIN_SEPARATOR = '0x3644e515';
  let failures = 1;
  const rpc: Rpc = async (method, params) => {
    const [call] = params as [{ data?: string }];
    if (call?.data === DOMAIN_SEPARATOR && failures-- > 0) throw new RpcUnreachableError(method, 'no answer');
    return kit.rpc(method, params);
  };
  const read = createPermitReader({ rpc, token: kit.token.address });
  const permit = await sign(1n);
  await expect(read(permit)).rejects.toThrow('no answer');
  expect(await read(permit)).toEqual({ state: 'fresh' });
});
