/** `rewards constraints` as a shell sees it, against a real stack. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver } from '../kits/network/receivers.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

const ALICE = 'alice@demo.example';
const CLUB = '11111111-1111-4111-8111-111111111111';
const GUARDED = '22222222-2222-4222-8222-222222222222';
let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
let brandServer: Awaited<ReturnType<typeof startReceiver>>;
let url: string;
const json = (...args: string[]) => rewardsJson(['constraints', ...args], { cwd: project.path });
const text = (...args: string[]) => rewards(['constraints', ...args], { cwd: project.path });

beforeAll(async () => {
  project = await temporaryDirectory();
  brandServer = await startReceiver((_, response) => response.end('{"eligible":true}'));
  url = `http://127.0.0.1:${brandServer.port}/eligible`;
  await writeFile(
    join(project.path, 'seed.yaml'),
    `brands:
  - brandId: "0x${'a'.repeat(40)}"
    name: Club
    domains: [demo.example]
    perks:
      - { id: ${CLUB}, tokenId: 1, name: Club mug, category: physical, cost: 5, constraints: [{ type: chat_role, platform: discord, role: member }, { type: chat_level, platform: discord, level: 3 }] }
      - { id: ${GUARDED}, tokenId: 2, name: Guarded, category: digital, cost: 5, constraints: [{ type: external_api, url: "${url}" }] }
users:
  - { email: ${ALICE}, login: alice, applicationPassword: aLic 3xPq 7Rtu W2mN 8kVz Y5hD }
`,
  );
  stack = await serveHere(['--port', '0', '--ephemeral', '--seed', 'seed.yaml'], { cwd: project.path });
});
afterAll(async () => {
  await stack?.stop();
  await brandServer?.stop();
  await project?.remove();
});

test('list shows the perks that have constraints', async () => {
  const { envelope } = await json('list');
  expect(envelope.data.body.perks).toEqual([
    {
      perkId: CLUB,
      tokenId: 1,
      name: 'Club mug',
      constraints: [
        { type: 'chat_role', platform: 'discord', role: 'member' },
        { type: 'chat_level', platform: 'discord', level: 3 },
      ],
    },
    {
      perkId: GUARDED,
      tokenId: 2,
      name: 'Guarded',
      constraints: [{ type: 'external_api', url, ttlSeconds: 60 }],
    },
  ]);
  expect((await text('list')).stdout).toContain('Club mug');
});

test('check says no with what is missing, and yes once chat has set it', async () => {
  const refused = await json('check', CLUB, ALICE);
  expect(refused.code).toBe(1);
  expect(refused.envelope.error).toMatchObject({
    code: 'E_REFUSED',
    message: expect.stringContaining('role member'),
    details: { missing: [{ reason: 'chat_role_missing' }, { reason: 'chat_level_too_low' }] },
  });
  const set = await json('chat', ALICE, '--level', '3', '--role', 'member', 'helper');
  expect(set.envelope.data.body).toEqual({
    platform: 'discord',
    user: ALICE,
    level: 3,
    roles: ['member', 'helper'],
  });
  const { code, stdout } = await text('check', CLUB, ALICE);
  expect([code, stdout]).toEqual([0, `yes  ${ALICE} meets all constraints of Club mug\n`]);
  expect((await text('chat')).stdout).toBe(`${ALICE}  discord  level 3  member, helper\n`);
  expect((await json('chat', ALICE, '--no-roles')).envelope.data.body.roles).toEqual([]);
});

test('invalidate makes the next check ask again', async () => {
  for (const _ of [1, 2])
    expect((await json('check', GUARDED, ALICE)).envelope.data.body.eligible).toBe(true);
  expect(brandServer.received).toHaveLength(1);
  expect((await json('invalidate', url, '--user', ALICE)).envelope.data.body).toEqual({ invalidated: 1 });
  expect((await text('invalidate', url, '--token-id', '2')).stdout).toBe('0 results forgotten\n');
  await json('check', GUARDED, ALICE);
  expect(brandServer.received).toHaveLength(2);
});

test.each<[string[], number, string]>([
  [['check', CLUB, 'nobody@demo.example'], 1, 'No wallet of nobody@demo.example'],
  [['check', 'x', ALICE], 1, 'Invalid settings'],
  [['invalidate', 'elsewhere'], 1, 'Invalid settings'],
  [['chat', '--level', '3'], 2, '--level and --role need a user'],
  [['chat', ALICE, '--level', 'high'], 2, 'must be a whole number'],
])('constraints %j says what is wrong', async (args, exit, message) => {
  const { code, envelope } = await json(...args);
  expect([code, envelope.error.message]).toEqual([exit, expect.stringContaining(message)]);
});
