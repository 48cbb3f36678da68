/** A brand whose perks have constraints, its server that answers about buyers, and users who buy through the relay. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Overrides, ServeConfig } from '../../../src/emulator/serve-config.ts';
import { startRelayKit, type User } from '../../kits/chain/wallet.ts';
import type { TestDatabase } from '../../kits/databases/databases.ts';
import { startReceiver } from '../../kits/network/receivers.ts';

export const BRAND = `0x${'a'.repeat(40)}`;
export const API_KEY = 'rk_test_demo_AbCdEfGhJkMnPqRsTuVwXyZ23456789';
export const OTHER_KEY = 'rk_test_other_AbCdEfGhJkMnPqRsTuVwXyZ23456789';
/** By their ids on chain. */
export const perk = {
  asks: 11n,
  asksLonger: 12n,
  needsPerk: 13n,
  elsewhere: 14n,
  level: 15n,
  role: 16n,
  both: 17n,
};
const idOf = (token: bigint) => `00000000-0000-4000-8000-0000000000${token}`;

const fixture = (url: string, other: string) => `
brands:
  - brandId: "${BRAND}"
    name: Constrained
    domains: [demo.example]
    apiKey: ${API_KEY}
    escrow: 100000
    events: { account_creation: { reward: 100 } }
    perks:
${[
  [perk.asks, `{ type: external_api, url: "${url}", ttlSeconds: 60 }`],
  [perk.asksLonger, `{ type: external_api, url: "${url}", ttlSeconds: 3600 }`],
  [perk.needsPerk, `{ type: has_perk, perkId: ${idOf(perk.asks)} }`],
  [perk.elsewhere, `{ type: external_api, url: "${other}", ttlSeconds: 3600 }`],
  [perk.level, '{ type: chat_level, platform: discord, level: 5 }'],
  [perk.role, '{ type: chat_role, platform: discord, role: moderator }'],
  [
    perk.both,
    `{ type: external_api, url: "${url}" }, { type: chat_role, platform: Discord, role: moderator }`,
  ],
]
  .map(
    ([token, constraints]) =>
      `      - { id: ${idOf(token as bigint)}, tokenId: ${token}, name: Perk ${token}, category: digital, cost: 1, constraints: [${constraints}] }`,
  )
  .join('\n')}
  - brandId: "0x${'b'.repeat(40)}"
    name: Other
    domains: [other.example]
    apiKey: ${OTHER_KEY}
users:
${['alice', 'bob', 'carol']
  .map(
    (name) =>
      `  - { email: ${name}@demo.example, login: ${name}, applicationPassword: aLic 3xPq 7Rtu W2mN 8kVz Y5hD }`,
  )
  .join('\n')}
`;

export async function startConstraintsKit(
  database: Pick<TestDatabase, 'databaseUrl'>,
  change: Partial<ServeConfig & Overrides> = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'rewards-constraints-'));
  /** What the brand's server says; `hold` keeps its answers back until it resolves. */
  const says = { status: 200, body: { eligible: true } as unknown, hold: Promise.resolve() };
  const brandServer = await startReceiver(async (_, response) => {
    await says.hold;
    response.writeHead(says.status, { 'content-type': 'application/json' });
    response.end(typeof says.body === 'string' ? says.body : JSON.stringify(says.body));
  });
  const url = `http://127.0.0.1:${brandServer.port}/eligible`;
  const seed = join(folder, 'seed.yaml');
  await writeFile(seed, fixture(url, `${url}/elsewhere`));
  const kit = await startRelayKit({ ...database, seedFiles: [seed], frozen: true, ...change }).catch(
    async (error: unknown) => {
      await brandServer.stop();
      throw error;
    },
  );
  for (const token of Object.values(perk)) await kit.setPerk(token, 0n);
  return {
    ...kit,
    url,
    says,
    brandServer,
    /** Buys a perk, which costs nothing on chain. */
    buy: (user: Omit<User, 'account'>, token: bigint) => kit.relay(user, kit.purchase(user.address, token)),
    /** How often the brand's server was asked since the last call. */
    asked: () => brandServer.received.splice(0).length,
    async stop() {
      await kit.stop();
      await brandServer.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
