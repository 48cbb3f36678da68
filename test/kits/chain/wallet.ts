/** Users of a service with their keys, tokens and signatures, and perks that they can buy through the relay. */
import {
  createWalletClient,
  encodeFunctionData,
  type Hex,
  hexToSignature,
  http,
  keccak256,
  type PrivateKeyAccount,
  stringToHex,
  toHex,
} from 'viem';
import { anvil as anvilChain } from 'viem/chains';
import { perkNFTAbi, rewardTokenAbi } from '../../../src/chain/contracts/abis.ts';
import type { Overrides, ServeConfig } from '../../../src/emulator/serve-config.ts';
import type { Ready } from '../../../src/stack/ready.ts';
import { type Answer, clientOf, startTestService } from '../service/service.ts';
import { minedBy } from './chain.ts';
import { devAccount } from './dev-accounts.ts';

export type RelayKit = Awaited<ReturnType<typeof startRelayKit>>;
export type Names = 'alice' | 'bob' | 'carol';
const people: Names[] = ['alice', 'bob', 'carol'];
const adminAccount = devAccount({ addressIndex: 0 });
const userAccounts = people.map((_, index) =>
  devAccount({ accountIndex: 1, addressIndex: index }),
) as unknown as PrivateKeyAccount[];

export const FREE_PERK = 1n;
export const PERK = 2n;
export const PERK_PRICE = 60n;
const ORIGIN = 'https://demo.example';

export interface User {
  email: string;
  account: PrivateKeyAccount;
  address: Hex;
  token: string;
}

/** Starts a service of its own; `change` overrides its configuration. `nodeUrl`: where the tests themselves ask. */
export async function startRelayKit(change: Partial<ServeConfig & Overrides> = {}, nodeUrl?: string) {
  const service = await startTestService(change);
  const { urls } = service.ready;
  const ready = { ...service.ready, urls: { ...urls, rpc: nodeUrl ?? urls.rpc } };
  const kit = await relayKitOf(ready).catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });
  return { ...service, chain: clientOf(ready).chain, ...kit };
}

/** The same for a stack that runs already, in this process or another. */
export async function relayKitOf(ready: Ready) {
  const { chain, post, brand, event, control, ...client } = clientOf(ready);
  const contracts = ready.contracts as Record<'token' | 'escrow' | 'perks' | 'pointsSale', Hex>;
  const admin = createWalletClient({
    account: adminAccount,
    chain: { ...anvilChain, id: ready.chain.id },
    transport: http(ready.urls.rpc),
  });
  const mined = (hash: Hex) => minedBy(chain, hash);
  const setPerk = async (perkId: bigint, price: bigint, stock = 2n ** 256n - 1n, of = brand.brandId) => {
    const args = [perkId, price, stock, of as Hex, true] as const;
    const call = { address: contracts.perks, abi: perkNFTAbi, functionName: 'setPerk', args } as const;
    await mined(await admin.writeContract(call));
  };

  /** Who has no key here: enough for calls that need no signature. */
  const keyless = async (email: string): Promise<Omit<User, 'account'>> => {
    const { body, status } = await control('/tokens', { user: email, expires: '7d' });
    if (status >= 300) throw new Error(`no token for ${email}: ${JSON.stringify(body)}`);
    return { email, token: body.token, address: body.address.toLowerCase() };
  };
  const users = {} as Record<Names, User>;
  for (const [index, name] of people.entries()) {
    const email = `${name}@demo.example`;
    const account = userAccounts[index] as PrivateKeyAccount;
    users[name] = { ...(await keyless(email)), account };
  }
  await setPerk(FREE_PERK, 0n);
  await setPerk(PERK, PERK_PRICE);

  const domain = tokenDomain(contracts.token, ready.chain.id);
  const now = async () => Number((await chain.getBlock()).timestamp);

  /** Raw, as a client sends it. */
  const send = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    post(`${ready.urls.relay}/relay`, body, { origin: ORIGIN, ...headers });
  let callers = 0;
  return {
    contracts,
    tokenAbi: rewardTokenAbi,
    event,
    users,
    admin,
    setPerk,
    mined,
    control,
    domain,
    now,
    send,
    keyless,
    advance: client.advance,
    /** As a user whose address on the net is used by nobody else. */
    relay: (
      user: Omit<User, 'account'>,
      body: Record<string, unknown>,
      headers: Record<string, string> = {},
    ) => {
      callers += 1;
      return send(
        { userAddress: user.address, ...body },
        {
          authorization: `Bearer ${user.token}`,
          'x-forwarded-for': `10.${(callers >> 16) & 255}.${(callers >> 8) & 255}.${callers & 255}`,
          ...headers,
        },
      );
    },
    /** A call of PerkNFT.purchaseFor. */
    purchase: (buyer: Hex, perkId = FREE_PERK, maxPrice = 0n) => ({
      to: contracts.perks,
      data: encodeFunctionData({
        abi: perkNFTAbi,
        functionName: 'purchaseFor',
        args: [buyer, perkId, maxPrice],
      }),
    }),
    /** An EIP-2612 permit as the API takes it. */
    async permit(user: User, change: Partial<PermitWish> = {}) {
      const nonce = await chain.readContract({
        address: contracts.token,
        abi: rewardTokenAbi,
        functionName: 'nonces',
        args: [user.address],
      });
      const wish = {
        owner: user.address,
        spender: contracts.perks,
        value: PERK_PRICE,
        nonce,
        domain,
        deadline: BigInt((await now()) + 3_600),
        ...change,
      };
      return signPermitBody(user.account, wish);
    },
    /** A transfer that its owner signed (ERC-3009). */
    async transfer(user: User, to: Hex, value = 1n) {
      const nonce = keccak256(stringToHex(`${Math.random()}`));
      const signed = { from: user.address, to, value, validAfter: 0n, validBefore: 2n ** 48n, nonce };
      const { r, s, v } = await signTransfer(user.account, domain, signed);
      const args = [user.address, to, value, 0n, 2n ** 48n, nonce, v, r, s] as const;
      const data = encodeFunctionData({
        abi: rewardTokenAbi,
        functionName: 'transferWithAuthorization',
        args,
      });
      return { to: contracts.token, data };
    },
    perksOf: (owner: Hex, perkId: bigint) =>
      chain.readContract({
        address: contracts.perks,
        abi: perkNFTAbi,
        functionName: 'balanceOf',
        args: [owner, perkId],
      }),
    tokensOf: (owner: Hex) =>
      chain.readContract({
        address: contracts.token,
        abi: rewardTokenAbi,
        functionName: 'balanceOf',
        args: [owner],
      }),
  };
}

export interface PermitWish {
  owner: Hex;
  spender: Hex;
  value: bigint;
  nonce: bigint;
  deadline: bigint;
  domain: TokenDomain;
}

export type TokenDomain = ReturnType<typeof tokenDomain>;

/** The EIP-712 domain of the reward token. */
export const tokenDomain = (verifyingContract: Hex, chainId: number) => ({
  name: 'Reward Token',
  version: '1',
  chainId,
  verifyingContract,
});

type TypedSigner = Pick<PrivateKeyAccount, 'signTypedData'>;

/** An EIP-2612 permit, with its signature in parts. */
export async function signPermit(account: TypedSigner, { domain, ...message }: PermitWish) {
  const signature = await account.signTypedData({
    domain,
    primaryType: 'Permit',
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    message,
  });
  return { ...message, ...partsOf(signature) };
}

/** The same as the API takes it. */
export async function signPermitBody(account: TypedSigner, wish: PermitWish) {
  const { owner, spender, value, deadline, v, r, s } = await signPermit(account, wish);
  return { owner, spender, value: String(value), deadline: Number(deadline), v, r, s };
}

export interface TransferWish {
  from: Hex;
  to: Hex;
  value: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: Hex;
}

/** An ERC-3009 authorisation of a transfer. */
export async function signTransfer(account: TypedSigner, domain: TokenDomain, message: TransferWish) {
  const signature = await account.signTypedData({
    domain,
    primaryType: 'TransferWithAuthorization',
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    message,
  });
  return partsOf(signature);
}

/** An ERC-3009 cancellation: the authorisation with this nonce counts no more. */
export async function signCancel(
  account: TypedSigner,
  domain: TokenDomain,
  message: { authorizer: Hex; nonce: Hex },
) {
  const signature = await account.signTypedData({
    domain,
    primaryType: 'CancelAuthorization',
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    message,
  });
  return partsOf(signature);
}

function partsOf(signature: Hex): { v: number; r: Hex; s: Hex } {
  const { r, s, v } = hexToSignature(signature);
  return { v: Number(v), r, s };
}

/** `0x` and that many bytes. */
export const filled = (byte: number, length: number): Hex => toHex(new Uint8Array(length).fill(byte));
