/** `rewards serve` on a platform for which the curve's native code has no build. */
import { mnemonicToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { rewardsJson, serve, temporaryDirectory } from '../kits/service/cli.ts';

test('users get the same wallets there, and their rewards are signed and paid', async () => {
  const project = await temporaryDirectory();
  // The package looks for the build of the platform that is named here.
  const env = { npm_config_arch: 's390x' };
  const stack = await serve(['--port', '0', '--ephemeral'], { cwd: project.path, env });
  const json = async (...args: string[]) =>
    (await rewardsJson(args, { cwd: project.path })).envelope.data.body;
  try {
    const { walletAddress } = await json('send-event', 'account_creation', '--user', 'new@example.com');
    const { index } = await json('wallet', 'show', 'new@example.com');
    const mnemonic = 'test test test test test test test test test test test junk';
    expect(mnemonicToAccount(mnemonic, { path: `m/44'/60'/1'/0/${index}` }).address).toBe(walletAddress);
    await expect
      .poll(() => json('wallet', 'balance', 'new@example.com'))
      .toMatchObject({ walletAddress, balance: 100 });
  } finally {
    await stack.stop();
    await project.remove();
  }
});
