/** `rewards contracts`. */
import { InvalidArgumentError } from 'commander';
import { deployerKey, startSettings } from '../../production/settings.ts';
import { amount, asGiven, option, settingOption, wholeNumberOf } from '../machine/options.ts';
import { nodeOptions } from '../machine/shared-options.ts';
import { from, type Verb, type Verbs } from '../machine/verb.ts';

const contracts = from(() => import('./contracts.ts'));

const { chainId, contractsFile, payoutKey, mintKey, redemptionKey, relayKey } = startSettings;
type RoleOptions = Omit<Parameters<typeof import('./contracts.ts').changeRole>[1], 'verb'>;
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

/** What a deployment may be told. */
const terms = () => [
  option('--admin <address>', 'admin of the contracts in the end; default: the deployer', {
    parse: address,
  }),
  option('--perk-admin <address>', 'may configure perks; default: the redemption account, else the admin', {
    parse: address,
  }),
  option('--mint-cap <rwt>', 'what may be minted for payments in all', {
    default: '1000000000000000',
    parse: asGiven(wholeNumberOf(0, Number.MAX_SAFE_INTEGER)),
  }),
  option(
    '--redemption-cap <rwt>',
    'what may be collected for perks in an hour without the holders’ allowance: the most that a leaked redemption key takes in that time',
    // As DEFAULT_REDEMPTION_CAP has it; this file loads nothing of the chain.
    { default: '1000000', parse: asGiven(wholeNumberOf(0, Number.MAX_SAFE_INTEGER)) },
  ),
  option('--services-url <url>', 'public address of the services host, which has the metadata of perks', {
    parse: webAddress,
  }),
  option(
    '--perk-uri <uri>',
    'where else the metadata of perks are; {id} in it becomes the token [default: at --services-url, else nowhere]',
  ),
  option('--gas-money <amount>', 'native currency that each sending account gets; default: nothing', {
    parse: amount,
  }),
];

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

/** A change of who has a role. */
const roleVerb = (verb: 'grant' | 'revoke', summary: string): Verb => ({
  summary,
  description:
    'Sends the transaction with the key of the contract’s admin. With --plan, or without a key, it prints the transaction and sends nothing: for a multisig, or for `rewards contracts send`.',
  takes: [
    ['<role>', 'CONTRACT.ROLE as `rewards contracts show` names them'],
    ['<account>', 'who has it, or is to have it'],
  ],
  options: [
    option('--key-file <file>', 'file with the private key of the contract’s admin'),
    option('--plan', 'print the transaction and send nothing'),
    ...[chainId, contractsFile, ...contractRows].map(settingOption),
    ...nodeOptions(),
  ],
  run: async () => {
    const { changeRole } = await import('./contracts.ts');
    return (context, options: RoleOptions) => changeRole(context, { ...options, verb });
  },
});

export const contractCommands: Verbs = {
  contracts: {
    summary: 'deploy the four contracts of a production service, and show what they are',
    verbs: {
      deploy: {
        summary: 'deploy the contracts, link them and grant their roles; --plan only says how',
        description:
          'Prints every transaction, then sends one after the other. What was broken off goes on with the same command: each transaction has its nonce from the beginning, so none happens twice. The accounts are those of the key files, or the addresses given in their place.',
        options: [
          option('--plan', 'print the transactions and what they cost at most; send nothing'),
          option('--apply', 'send them'),
          ...nodeOptions(),
          settingOption(deployerKey),
          ...accountOptions(),
          ...[chainId, contractsFile].map(settingOption),
          ...terms(),
        ],
        help: `
Examples:
  rewards contracts deploy --plan
  rewards contracts deploy --apply --gas-money 0.2
  rewards contracts deploy --apply --admin 0x…   (another account is admin in the end)`,
        run: contracts('deployContracts'),
      },
      send: {
        summary: 'send one transaction with an operator’s key, such as the one that `brand fund` prints',
        takes: [
          ['<to>', 'the contract'],
          ['<data>', 'the call’s bytes'],
        ],
        options: [
          option('--key-file <file>', 'file with the private key that signs').makeOptionMandatory(),
          settingOption(chainId),
          ...nodeOptions(),
        ],
        run: contracts('sendTransaction'),
      },
      grant: roleVerb('grant', 'give an account a role of a contract, such as perks.RELAYER_ROLE'),
      revoke: roleVerb('revoke', 'take a role from an account'),
      show: {
        summary: 'print addresses, code, roles and caps, and what is missing; exit code 1 when anything is',
        options: [
          settingOption(chainId),
          ...[contractsFile, ...contractRows].map(settingOption),
          ...nodeOptions(),
          ...accountOptions(),
        ],
        run: contracts('showContracts'),
      },
    },
  },
};
