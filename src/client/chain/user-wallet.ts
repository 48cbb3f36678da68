/**
 * What a user's own wallet does, for the emulator's users: encodes calls and signs them with the development keys.
 * Only the command line holds these keys; the server derives addresses from the public half and can open none of them.
 */
import { toHex } from 'viem';
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts';
import { contractNames, encodeCall, functionsOf } from '../../chain/contracts/calls/function-call.ts';
import {
  createTokenSignatures,
  type SignedPermit,
  type TypedDataSigner,
} from '../../chain/contracts/token-signatures.ts';
import { createRpc, rpcLimits } from '../../chain/rpc/rpc.ts';
import { DEV_MNEMONIC, DEV_WALLETS_PATH } from '../../lib/development.ts';
import { PreconditionError } from '../../lib/failures/precondition.ts';
import type { Hex } from '../../lib/hex.ts';
import type { Random } from '../../lib/ids.ts';
import { nearest } from '../../lib/text/nearest.ts';
import type { ContractName } from '../../rules/relay-policy.ts';

/** A wallet of the emulator, by its place in the key tree; null: the user brought the wallet. */
export interface UserWallet {
  address: string;
  index: number | null;
}

/** The call of `contract function args…`, or the problem with it. */
type ReadCall =
  | { to: Hex; data: Hex; signature: string; args: Record<string, unknown> }
  | { problem: string; fix: string };

export type UserWallets = ReturnType<typeof openUserWallets>;

export function openUserWallets(stack: {
  contracts: Readonly<Record<string, string>>;
  rpcUrl: string;
  random: Pick<Random, 'bytes'>;
}) {
  const addressOf = (name: ContractName) => (stack.contracts[name] ?? '') as Hex;
  const rpc = createRpc({ url: stack.rpcUrl, ...rpcLimits });
  const signatures = createTokenSignatures({ rpc, token: addressOf('token') });
  let keys: ReturnType<typeof developmentUsers> | undefined;
  const signerOf = ({ address, index }: UserWallet) => {
    keys ??= developmentUsers();
    const signer = index === null ? undefined : keys(index);
    if (signer?.address.toLowerCase() === address.toLowerCase()) return signer;
    throw new PreconditionError({
      code: 'E_NO_USER_KEY',
      message: `the key of ${address} is not among the emulator's development keys`,
      fix: 'sign with the wallet that holds the key, and pass the signed call with --data',
    });
  };
  const freshNonce = () => `0x${Buffer.from(stack.random.bytes(32)).toString('hex')}` as const;
  return {
    /** `me` is the user's address. */
    readCall(call: { contract: string; function: string; args: readonly string[]; me: string }): ReadCall {
      const contract = contractNames.find((name) => name === call.contract);
      if (!contract) {
        const close = nearest(call.contract, contractNames);
        const fix = close ? `Did you mean ${close}?` : `The contracts are ${contractNames.join(', ')}.`;
        return { problem: `this stack has no contract named ${call.contract}`, fix };
      }
      const { function: name, args, me } = call;
      const made = encodeCall(contract, { name, args, me: me as Hex });
      return 'problem' in made ? explain(contract, made.problem) : { to: addressOf(contract), ...made };
    },
    /** The address of a contract; undefined for an unknown name. An address stands for itself. */
    contractAddress(name: string): Hex | undefined {
      if (/^0x[0-9a-fA-F]{40}$/.test(name)) return name as Hex;
      const contract = contractNames.find((one) => one === name);
      return contract && addressOf(contract);
    },
    permit: (
      wallet: UserWallet,
      wish: { spender: Hex; value: bigint; deadline: number },
    ): Promise<SignedPermit> => signatures.permit(signerOf(wallet), wish),
    /** A transfer of the user's tokens, signed by the user, that any account may submit. */
    async transfer(
      wallet: UserWallet,
      wish: { to: Hex; value: bigint; validBefore: number },
    ): Promise<{ to: Hex; data: Hex }> {
      return {
        to: addressOf('token'),
        data: await signatures.transfer(signerOf(wallet), { ...wish, nonce: freshNonce() }),
      };
    },
    /** The cancellation of a transfer that was never signed. */
    cancel: async (wallet: UserWallet): Promise<{ to: Hex; data: Hex }> => ({
      to: addressOf('token'),
      data: await signatures.cancel(signerOf(wallet), freshNonce()),
    }),
  };
}

/** The signer of the wallet at a place of the key tree. */
function developmentUsers(): (index: number) => TypedDataSigner {
  // Derives the seed once, since that is slow by design.
  const users = mnemonicToAccount(DEV_MNEMONIC, { path: DEV_WALLETS_PATH }).getHdKey();
  return (index) => {
    const { privateKey } = users.deriveChild(index);
    if (!privateKey) throw new Error(`there is no key at ${index}`);
    const account = privateKeyToAccount(toHex(privateKey));
    return {
      address: account.address,
      signTypedData: (data) => account.signTypedData(data as Parameters<typeof account.signTypedData>[0]),
    };
  };
}

function explain(
  contract: ContractName,
  problem: Extract<ReturnType<typeof encodeCall>, { problem: unknown }>['problem'],
): { problem: string; fix: string } {
  switch (problem.code) {
    case 'unknown_function': {
      const names = problem.known.map((signature) => signature.replace(/\(.*/, ''));
      const close = nearest(problem.name.replace(/\(.*/, ''), names);
      return {
        problem: `${contract} has no state-changing function ${problem.name}`,
        fix: close
          ? `Did you mean ${functionsOf(contract).find((one) => one.startsWith(`${close}(`))}?`
          : `Its functions are ${[...new Set(names)].join(', ')}.`,
      };
    }
    case 'wrong_count':
      return {
        problem: `${problem.signature} does not take ${problem.given} arguments`,
        fix: 'Give one for each type in the brackets; `me` stands for the user’s address.',
      };
    case 'wrong_argument':
      return {
        problem: `argument ${problem.place + 1} (${problem.name}) of ${problem.signature} cannot be ${JSON.stringify(problem.given)}`,
        fix: `It must be ${ofType(problem.type)}.`,
      };
  }
}

const ofType = (type: string): string => {
  if (type === 'address') return 'an address of 0x and 40 hex digits, or `me` for the user’s';
  if (type === 'bool') return 'true or false';
  if (type.startsWith('uint')) return `a whole number, 0 or more, of at most ${type.slice(4)} bits`;
  if (type.startsWith('int')) return `a whole number of at most ${type.slice(3)} bits`;
  if (type.endsWith(']')) return `a JSON list of ${type.replace(/\[\d*\]$/, '')}`;
  return `${type}: 0x and hex digits`;
};
