/** The comparison of ledger and chain knows relayed calls as well. */
import { expect, test } from 'vitest';
import { FREE_PERK, PERK, PERK_PRICE, startRelayKit } from '../../kits/chain/wallet.ts';

test('after rewards, purchases with permits and top-ups, ledger and chain agree', async () => {
  const kit = await startRelayKit({ engine: { relay: { gasCheckMs: 200 } } });
  const { alice } = kit.users;
  expect((await kit.event({ userEmail: alice.email })).status).toBe(200);
  const permit = await kit.permit(alice);
  const body = { ...kit.purchase(alice.address, PERK, PERK_PRICE), permit };
  const { status, body: bought } = await kit.relay(alice, body);
  expect(status).toBe(200);
  await kit.chain.request({ method: 'anvil_setBalance', params: [bought.from, '0x1'] } as never);
  expect((await kit.relay(alice, kit.purchase(alice.address))).status).toBe(200);
  await kit.chain.request({ method: 'anvil_mine', params: ['0x50'] } as never);
  // The kit has set the prices of its two perks past the service; nothing else differs.
  const verified = async () => {
    const { differences, complete } = (await kit.request(`${kit.ready.urls.control}/verify`)).body;
    const kinds = differences.map(({ kind, about }: { kind: string; about: { tokenId: number } }) => {
      return `${kind} ${about.tokenId}`;
    });
    return { complete, kinds: kinds.sort() };
  };
  const kinds = [`perk_terms ${FREE_PERK}`, `perk_terms ${PERK}`].sort();
  await expect.poll(verified).toEqual({ complete: true, kinds });
  await kit.stop();
});
