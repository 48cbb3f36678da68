/** `rewards contracts`: its verbs and options. */
import { type Command, InvalidArgumentError } from 'commander';
import { deployerKey, startSettings } from '../../production/settings.ts';
import { amount, asGiven, option, settingOption, wholeNumberOf } from '../machine/options.ts';
import { nodeOptions } from '../machine/setting-options.ts';
import type { Catalog } from '../machine/verb.ts';

const { chainId, contractsFile, payoutKey, mintKey, redemptionKey, relayKey } = startSettings;

type RoleOptions = Omit<Parameters<typeof import('../setup/contracts.ts').changeRole>[1], 'verb'>;

export function declareContracts({ parent, lazily }: Catalog): void {
  const contracts = parent
    .command('contracts')
    .summary('deploy the four contracts of a production service, and show what they are');
  const deploy = contracts
    .command('deploy')
    .summary('deploy the contracts, link them and grant their roles; --plan only says how')
    .description(
      'Prints every transaction, then sends one after the other. What was broken off goes on with the same command: each transaction has its nonce from the beginning, so none happens twice. The accounts are those of the key files, or the addresses given in their place.',
    )
    .addOption(option('--plan', 'print the transactions and what they cost at most; send nothing'))
    .addOption(option('--apply', 'send them'));
  for (const one of [...nodeOptions(), settingOption(deployerKey), ...accountOptions()])
    deploy.addOption(one);
  for (const row of [chainId, contractsFile]) deploy.addOption(settingOption(row));
  addTerms(deploy)
    .addHelpText(
      'after',
      `
Examples:
  rewards contracts deploy --plan
  rewards contracts deploy --apply --gas-money 0.2
  rewards contracts deploy --apply --admin 0x…   (another account is admin in the end)`,
    )
    .action(lazily(async () => (await import('../setup/contracts.ts')).deployContracts));

  const send = contracts
    .command('send')
    .summary('send one transaction with an operator’s key, such as the one that `brand fund` prints')
    .argument('<to>', 'the contract')
    .argument('<data>', 'the call’s bytes')
    .addOption(option('--key-file <file>', 'file with the private key that signs').makeOptionMandatory())
    .addOption(settingOption(chainId));
  for (const one of nodeOptions()) send.addOption(one);
  send.action(lazily(async () => (await import('../setup/contracts.ts')).sendTransaction));

  for (const [verb, summary] of [
    ['grant', 'give an account a role of a contract, such as perks.RELAYER_ROLE'],
    ['revoke', 'take a role from an account'],
  ] as const) {
    const change = contracts
      .command(verb)
      .summary(summary)
      .description(
        'Sends the transaction with the key of the contract’s admin. With --plan, or without a key, it prints the transaction and sends nothing: for a multisig, or for `rewards contracts send`.',
      )
      .argument('<role>', 'CONTRACT.ROLE as `rewards contracts show` names them')
      .argument('<account>', 'who has it, or is to have it')
      .addOption(option('--key-file <file>', 'file with the private key of the contract’s admin'))
      .addOption(option('--plan', 'print the transaction and send nothing'));
    for (const row of [chainId, contractsFile, ...contractRows]) change.addOption(settingOption(row));
    for (const one of nodeOptions()) change.addOption(one);
    change.action(
      lazily<RoleOptions>(async () => {
        const { changeRole } = await import('../setup/contracts.ts');
        return (context, options) => changeRole(context, { ...options, verb });
      }),
    );
  }

  const show = contracts
    .command('show')
    .summary('print addresses, code, roles and caps, and what is missing; exit code 1 when anything is')
    .addOption(settingOption(chainId));
  for (const row of [contractsFile, ...contractRows]) show.addOption(settingOption(row));
  for (const one of [...nodeOptions(), ...accountOptions()]) show.addOption(one);
  show.action(lazily(async () => (await import('../setup/contracts.ts')).showContracts));
}

const contractRows = [
  startSettings.tokenAddress,
  startSettings.escrowAddress,
  startSettings.perksAddress,
  startSettings.pointsSaleAddress,
];

const accountOptions = () => [
  ...[payoutKey, mintKey, redemptionKey, relayKey].map(settingOption),
  option('--payout-account <address>', 'that account by its address', { parse: address }),
  option('--mint-account <address>', 'that account by its address', { parse: address }),
  option('--redemption-account <address>', 'that account by its address', { parse: address }),
  option('--relay-account <address>', 'that account by its address', { parse: address }),
];

const addTerms = (deploy: Command): Command =>
  deploy
    .addOption(
      option('--admin <address>', 'admin of the contracts in the end; default: the deployer', {
        parse: address,
      }),
    )
    .addOption(
      option(
        '--perk-admin <address>',
        'may configure perks; default: the redemption account, else the admin',
        {
          parse: address,
        },
      ),
    )
    .addOption(
      option('--mint-cap <rwt>', 'what may be minted for payments in all', {
        default: '1000000000000000',
        parse: asGiven(wholeNumberOf(0, Number.MAX_SAFE_INTEGER)),
      }),
    )
    .addOption(
      option(
        '--redemption-cap <rwt>',
        'what may be collected for perks in an hour without the holders’ allowance: the most that a leaked redemption key takes in that time',
        // As DEFAULT_REDEMPTION_CAP has it; this file loads nothing of the chain.
        { default: '1000000', parse: asGiven(wholeNumberOf(0, Number.MAX_SAFE_INTEGER)) },
      ),
    )
    .addOption(
      option('--services-url <url>', 'public address of the services host, which has the metadata of perks', {
        parse: webAddress,
      }),
    )
    .addOption(
      option(
        '--perk-uri <uri>',
        'where else the metadata of perks are; {id} in it becomes the token [default: at --services-url, else nowhere]',
      ),
    )
    .addOption(
      option('--gas-money <amount>', 'native currency that each sending account gets; default: nothing', {
        parse: amount,
      }),
    );

function webAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new InvalidArgumentError('It must be a web address such as https://services.example.');
  return text.replace(/\/+$/, '');
}

function address(text: string): string {
  if (!/^0x[0-9a-f]{40}$/i.test(text))
    throw new InvalidArgumentError('It must be an address: 0x and 40 digits.');
  return text;
}
