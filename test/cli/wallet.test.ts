/** `rewards wallet` as a shell sees it, against a real stack. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/machine/exit-codes.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';

let stack: Awaited<ReturnType<typeof serveHere>>;
let project: Awaited<ReturnType<typeof temporaryDirectory>>;
const json = (...args: string[]) => rewardsJson(args, { cwd: project.path });
const plain = (...args: string[]) => rewards(args, { cwd: project.path });

beforeAll(async () => {
  project = await temporaryDirectory();
  stack = await serveHere(['--port', '0', '--persist-to', 'data', '--split-hosts'], { cwd: project.path });
});
afterAll(async () => {
  await stack.stop();
  await project.remove();
});

const ACCOUNT = 'discord:123456789012345678';

test('the hosts are apart, and each answers only its own', async () => {
  const { events, register } = stack.ready.urls;
  expect(register).not.toBe(events);
  const at = async (base: string) =>
    (await fetch(`${base}/rewards-api/pregenerate-user`, { method: 'POST', body: '{}' })).status;
  expect([await at(register), await at(events)]).toEqual([400, 404]);
  expect((await fetch(`${register}/openapi.json`)).status).toBe(200);
});

describe('pregenerate', () => {
  test('makes a wallet once, and tells which one ever after', async () => {
    const first = await json('wallet', 'pregenerate', ACCOUNT, '--username', 'alice');
    expect(first.code).toBe(exitCodes.done);
    expect(first.envelope).toMatchObject({
      ok: true,
      data: { status: 200, body: { success: true, created_new: true } },
      meta: { command: 'wallet pregenerate', requestId: expect.stringMatching(/^req_/) },
    });
    const { wallet_address, idp_user_id } = first.envelope.data.body;
    const again = await plain('wallet', 'pregenerate', ACCOUNT);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toBe(`${wallet_address}  wallet of ${ACCOUNT}  ${idp_user_id}\n`);
    const env = await plain('wallet', 'pregenerate', ACCOUNT, '-o', 'env');
    expect(env.stdout).toContain(`BODY_WALLET_ADDRESS=${wallet_address}\n`);
  });

  test('by e-mail it is the wallet of that user', async () => {
    const [alice] = stack.ready.users;
    const { envelope } = await json('wallet', 'pregenerate', alice.email);
    expect(envelope.data.body).toMatchObject({ wallet_address: alice.address, created_new: false });
  });

  test.each([
    ['discord:12', 'Invalid discord user ID', '17 to 20 digits'],
    ['myspace:12', 'Invalid OAuth provider', 'must be one of'],
    ['nobody', 'Invalid email', 'must be a valid e-mail address'],
  ])('%s is refused: exit 1, what is wrong and what to do', async (user, said, fix) => {
    const finished = await plain('wallet', 'pregenerate', user);
    expect(finished).toMatchObject({ code: exitCodes.refused, stdout: '' });
    expect(finished.stderr).toContain(said);
    expect(finished.stderr).toContain(fix);
  });

  test('--expect turns a refusal into a success, and a success into a failure', async () => {
    const expected = await plain(
      'wallet',
      'pregenerate',
      'discord:12',
      '--expect',
      '400:invalid_oauth_user_id',
    );
    expect(expected).toMatchObject({ code: 0, stdout: '400  invalid_oauth_user_id, as expected\n' });
    expect((await json('wallet', 'pregenerate', ACCOUNT, '--expect', '429')).envelope.error.code).toBe(
      'E_UNEXPECTED_ANSWER',
    );
  });

  test('the brand’s key goes along where it is demanded', async () => {
    const { brandId, apiKey } = stack.ready.brands[0];
    await json('brand', 'set', brandId, 'pregenerate=credential');
    const without = await json('wallet', 'pregenerate', ACCOUNT);
    expect([without.code, without.envelope.error.message]).toEqual([exitCodes.refused, 'Unauthorized']);
    const args = ['wallet', 'pregenerate', ACCOUNT, '--api-key-file', '-'];
    expect((await rewards(args, { cwd: project.path, stdin: `${apiKey}\n` })).code).toBe(0);
    await json('brand', 'set', brandId, 'pregenerate=open');
  });

  test('a username without a platform, and a target without a brand, are usage', async () => {
    const named = await json('wallet', 'pregenerate', 'a@b.example', '--username', 'x');
    expect([named.code, named.envelope.error.code]).toEqual([exitCodes.usage, 'E_USAGE']);
    const unknown = await rewardsJson(['wallet', 'pregenerate', ACCOUNT, '--target', stack.ready.urls.rpc]);
    expect([unknown.code, unknown.envelope.error.hint]).toEqual([
      exitCodes.usage,
      expect.stringContaining('--brand'),
    ]);
  });
});

describe('show', () => {
  test('tells address, place and registrations, by account, e-mail or address', async () => {
    const { envelope } = await json('wallet', 'pregenerate', ACCOUNT, '--username', 'alice');
    const { wallet_address: address, idp_user_id: idpUserId } = envelope.data.body;
    const shown = (await json('wallet', 'show', ACCOUNT)).envelope.data.body;
    expect(shown).toEqual({
      user: 'discord_123456789012345678@rewards.localhost',
      address,
      index: expect.any(Number),
      createdAt: expect.stringMatching(/Z$/),
      identities: [
        {
          provider: 'discord',
          providerUserId: '123456789012345678',
          username: 'alice',
          idpUserId,
          createdAt: expect.stringMatching(/Z$/),
        },
      ],
    });
    for (const name of [address, address.toLowerCase(), shown.user, 'DISCORD:123456789012345678']) {
      expect((await json('wallet', 'show', name)).envelope.data.body).toEqual(shown);
    }
    const text = await plain('wallet', 'show', ACCOUNT);
    expect(text.stdout).toContain(address);
    expect(text.stdout).toMatch(/registered +discord:123456789012345678 {2}alice/);
  });

  test('an unknown user: exit 1', async () => {
    const { code, envelope } = await json('wallet', 'show', 'nobody@people.example');
    expect([code, envelope.error.message]).toEqual([exitCodes.refused, 'No wallet of nobody@people.example']);
  });
});

describe('balance', () => {
  test('is what the chain says, by e-mail, address or account', async () => {
    const user = 'holder@people.example';
    const nothing = (await json('wallet', 'balance', user)).envelope.data.body;
    expect(nothing).toEqual({ success: true, balance: 0, walletAddress: null });
    const sent = await json('send-event', 'account_creation', '--user', user);
    const { walletAddress } = sent.envelope.data.body;
    for (const name of [user, walletAddress]) {
      const { envelope } = await json('wallet', 'balance', name);
      expect(envelope.data.body).toMatchObject({ balance: 100 });
    }
    const text = await plain('wallet', 'balance', user);
    expect(text.stdout).toBe(`100 RWT  ${user}  ${walletAddress}\n`);
    expect((await json('wallet', 'balance', ACCOUNT)).envelope.data.body).toMatchObject({ balance: 0 });
    expect((await json('wallet', 'balance', 'discord:99999999999999999')).code).toBe(exitCodes.refused);
    expect((await json('wallet', 'balance', 'nobody')).code).toBe(exitCodes.refused);
  });
});
