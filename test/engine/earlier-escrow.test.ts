/** A chain whose escrow an earlier version deployed: rewards are paid as that escrow takes them, and compared as well as newer ones. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Hex, toFunctionSelector } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AnvilProcess,
  earlierEscrowCode,
  rpcTo,
  SERVICE_CHAIN_ARGS,
  startAnvil,
} from '../kits/chain.ts';
import { someone, startTestService, type TestService } from '../kits/service.ts';

let anvil: AnvilProcess;
let dataDir: string;
let running: TestService | undefined;
beforeAll(async () => {
  anvil = await startAnvil(SERVICE_CHAIN_ARGS);
  dataDir = await mkdtemp(join(tmpdir(), 'rewards-earlier-escrow-'));
});
afterAll(async () => {
  await running?.stop();
  await anvil?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<TestService> {
  running = await startTestService({ dataDir, ephemeral: false, rpcUrl: anvil.url });
  return running;
}

async function stop() {
  await running?.stop();
  running = undefined;
}

/** Pays a reward, and says which function of the escrow did it. */
async function payingFunction(service: TestService): Promise<Hex> {
  const { status, body } = await service.event({ userEmail: someone(), eventType: 'form_submit' });
  expect(status).toBe(200);
  const { transactionHash: hash } = body;
  const { input } = await service.chain.getTransaction({ hash });
  expect((await service.chain.getTransactionReceipt({ hash })).status).toBe('success');
  return input.slice(0, 10) as Hex;
}

test('pays by either escrow, and verify reads both', async () => {
  const rpc = rpcTo(anvil.url);
  const { escrow, token } = (await start()).ready.contracts as { escrow: Hex; token: Hex };
  const own = (await rpc('eth_getCode', [escrow, 'latest'])) as Hex;
  await stop();
  const differences = async (service: TestService) =>
    (await service.request(`${service.ready.urls.control}/verify`)).body.differences;

  await rpc('anvil_setCode', [escrow, earlierEscrowCode(token)]);
  const earlier = await start();
  expect(await payingFunction(earlier)).toBe(toFunctionSelector('distribute(bytes)'));
  expect(await differences(earlier)).toEqual([]);
  await stop();

  await rpc('anvil_setCode', [escrow, own]);
  const newer = await start();
  expect(await payingFunction(newer)).toBe(toFunctionSelector('distributePacked(bytes)'));
  expect(await differences(newer)).toEqual([]);
  await stop();

  // Anything else in its place is refused before anything is paid.
  await rpc('anvil_setCode', [escrow, `${own}00`]);
  await expect(start()).rejects.toThrow('escrow: other code');
});
