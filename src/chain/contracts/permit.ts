/** EIP-2612 permits: what one says, whether its owner signed it, and whether it was used already. */
import {
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  hexToBytes,
  keccak256,
  stringToHex,
} from 'viem';
import { addressOfKey } from '../../lib/keccak256.ts';
import { secp256k1 } from '../../lib/secp256k1.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { rewardTokenAbi } from './abis.ts';
import { readContract } from './read-contract.ts';

/** As it comes in a request, checked for form; addresses in lower case. */
export interface Permit {
  owner: Hex;
  spender: Hex;
  value: bigint;
  deadlineSeconds: bigint;
  v: 27 | 28;
  r: Hex;
  s: Hex;
}

type PermitState =
  /** Signed by its owner for the owner's present nonce: it can be used. */
  | { state: 'fresh' }
  /** Signed by its owner, and used already: any account may submit a permit, once. */
  | { state: 'used'; allowance: bigint }
  /** Not signed by its owner for this token on this chain. */
  | { state: 'not_signed' };

const PERMIT_TYPEHASH = keccak256(
  stringToHex('Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)'),
);
/** Above half of the group's order a signature has a twin; the token takes only the lower one (EIP-2). */
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
/** How many of the owner's latest permits are looked at: an older used permit was not meant for this call. */
const USED_NONCES = 5n;

/** The call that hands a permit to the token. */
export const permitCall = ({ owner, spender, value, deadlineSeconds, v, r, s }: Permit): Hex =>
  encodeFunctionData({
    abi: rewardTokenAbi,
    functionName: 'permit',
    args: [owner, spender, value, deadlineSeconds, v, r, s],
  });

/** Reads permits against the token of one chain. */
export function createPermitReader(deps: { rpc: Rpc; token: Hex }) {
  const { rpc } = deps;
  const token = { address: deps.token, abi: rewardTokenAbi };
  let separator: Promise<Hex> | undefined;
  const domainSeparator = () => {
    separator ??= readContract(rpc, { ...token, functionName: 'DOMAIN_SEPARATOR' });
    return separator.catch((error: unknown) => {
      separator = undefined;
      throw error;
    });
  };

  return async function readPermit(permit: Permit): Promise<PermitState> {
    const { owner, spender } = permit;
    const [domain, next, allowance] = await Promise.all([
      domainSeparator(),
      readContract(rpc, { ...token, functionName: 'nonces', args: [owner] }),
      readContract(rpc, { ...token, functionName: 'allowance', args: [owner, spender] }),
    ]);
    for (let back = 0n; back <= USED_NONCES && back <= next; back++) {
      if (signerOf(permit, { domain, nonce: next - back }) !== owner) continue;
      return back === 0n ? { state: 'fresh' } : { state: 'used', allowance };
    }
    return { state: 'not_signed' };
  };
}

/** The signer of a permit for this nonce, lower case; undefined when no key can have made the signature. */
function signerOf(permit: Permit, of: { domain: Hex; nonce: bigint }): Hex | undefined {
  const { owner, spender, value, deadlineSeconds, v, r, s } = permit;
  if (hexToBigInt(s) > S_MAX) return undefined;
  const struct = keccak256(
    encodeAbiParameters(
      [
        { type: 'bytes32' },
        { type: 'address' },
        { type: 'address' },
        { type: 'uint256' },
        { type: 'uint256' },
        { type: 'uint256' },
      ],
      [PERMIT_TYPEHASH, owner, spender, value, of.nonce, deadlineSeconds],
    ),
  );
  const digest = hexToBytes(keccak256(concat(['0x1901', of.domain, struct])));
  try {
    const signature = { bytes: hexToBytes(concat([r, s])), yParity: v === 28 ? 1 : 0 } as const;
    return addressOfKey(secp256k1.recover(digest, signature));
  } catch {
    // r or s is not a number of the group: no key can have made this signature.
    return undefined;
  }
}
