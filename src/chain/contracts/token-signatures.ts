/** What holders of the reward token sign instead of sending transactions: permits, transfers and their cancellation (EIP-2612, ERC-3009). */
import { encodeFunctionData, type Hex, parseSignature, type TypedDataDomain } from 'viem';
import type { Rpc } from '../rpc/rpc.ts';
import { rewardTokenAbi } from './abis.ts';
import { readContract } from './read-contract.ts';

/** Signs typed data (EIP-712) with one account's key. */
export interface TypedDataSigner {
  address: Hex;
  signTypedData(data: {
    domain: TypedDataDomain;
    types: Record<string, readonly { name: string; type: string }[]>;
    primaryType: string;
    message: Record<string, unknown>;
  }): Promise<Hex>;
}

/** As the relay takes it. Contract: Permit. */
export interface SignedPermit {
  owner: Hex;
  spender: Hex;
  /** Decimal digits. */
  value: string;
  /** Seconds since 1970. */
  deadline: number;
  v: number;
  r: Hex;
  s: Hex;
}

const PERMIT = [
  { name: 'owner', type: 'address' },
  { name: 'spender', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
];
const TRANSFER = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
];

const CANCEL = [
  { name: 'authorizer', type: 'address' },
  { name: 'nonce', type: 'bytes32' },
];

/** Reads from the token what signatures must name: its domain, and each owner's nonce. */
export function createTokenSignatures(deps: { rpc: Rpc; token: Hex }) {
  const token = { address: deps.token, abi: rewardTokenAbi };
  let reading: Promise<TypedDataDomain> | undefined;
  const readDomain = async (): Promise<TypedDataDomain> => {
    const query = { ...token, functionName: 'eip712Domain' } as const;
    const [, name, version, chainId, verifyingContract] = await readContract(deps.rpc, query);
    return { name, version, chainId: Number(chainId), verifyingContract };
  };
  const domain = () => {
    reading ??= readDomain();
    return reading;
  };

  return {
    /** A permit for the owner's present nonce. */
    async permit(
      signer: TypedDataSigner,
      { spender, value, deadline }: { spender: Hex; value: bigint; deadline: number },
    ): Promise<SignedPermit> {
      const owner = signer.address;
      const nonce = await readContract(deps.rpc, { ...token, functionName: 'nonces', args: [owner] });
      const signature = await signer.signTypedData({
        domain: await domain(),
        types: { Permit: PERMIT },
        primaryType: 'Permit',
        message: { owner, spender, value, nonce, deadline: BigInt(deadline) },
      });
      return { owner, spender, value: String(value), deadline, ...parts(signature) };
    },
    /** Call data of `transferWithAuthorization` from the signer. `nonce`: 32 bytes that were never used before. */
    async transfer(
      signer: TypedDataSigner,
      { to, value, validBefore, nonce }: { to: Hex; value: bigint; validBefore: number; nonce: Hex },
    ): Promise<Hex> {
      const message = {
        from: signer.address,
        to,
        value,
        nonce,
        validAfter: 0n,
        validBefore: BigInt(validBefore),
      };
      const types = { TransferWithAuthorization: TRANSFER };
      const primaryType = 'TransferWithAuthorization';
      const signature = await signer.signTypedData({ domain: await domain(), types, primaryType, message });
      const { v, r, s } = parts(signature);
      return encodeFunctionData({
        abi: rewardTokenAbi,
        functionName: 'transferWithAuthorization',
        args: [signer.address, to, value, 0n, message.validBefore, nonce, v, r, s],
      });
    },
    /** Call data of `cancelAuthorization` by the signer: the transfer with this nonce can no longer be submitted. */
    async cancel(signer: TypedDataSigner, nonce: Hex): Promise<Hex> {
      const signature = await signer.signTypedData({
        domain: await domain(),
        types: { CancelAuthorization: CANCEL },
        primaryType: 'CancelAuthorization',
        message: { authorizer: signer.address, nonce },
      });
      const { v, r, s } = parts(signature);
      const args = [signer.address, nonce, v, r, s] as const;
      return encodeFunctionData({ abi: rewardTokenAbi, functionName: 'cancelAuthorization', args });
    },
  };
}

function parts(signature: Hex): { v: number; r: Hex; s: Hex } {
  const { r, s, yParity } = parseSignature(signature);
  return { v: 27 + yParity, r, s };
}
