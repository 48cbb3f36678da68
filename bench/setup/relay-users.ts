/** The relay's users: tokens of an identity provider of our own, and the call that each asks for. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { encodeFunctionData, type Hex, numberToHex } from 'viem';
import { perkNFTAbi } from '../../src/chain/contracts/abis.ts';
import { type Brand, perkOfBrand } from './chain.ts';

const ISSUER = 'https://login.example';
const AUDIENCE = 'rewards-bench';
const KEY_ID = 'bench';
/** Contract: Limits, Relay transactions. */
export const CALLS_PER_USER = 35;

/** Serves the public key; `env` are the settings with which the service trusts it. */
export async function startIdentity() {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = JSON.stringify({
    keys: [{ ...(await exportJWK(publicKey)), kid: KEY_ID, alg: 'ES256', use: 'sig' }],
  });
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'application/json').end(keys),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    env: {
      REWARDS_IDENTITY: 'oidc',
      REWARDS_IDENTITY_ISSUER: ISSUER,
      REWARDS_IDENTITY_AUDIENCE: AUDIENCE,
      REWARDS_IDENTITY_JWKS_URL: `http://127.0.0.1:${port}/`,
      REWARDS_IDENTITY_WALLET_CLAIM: 'wallet',
    },
    tokenFor: (wallet: Hex) =>
      new SignJWT({ wallet })
        .setProtectedHeader({ alg: 'ES256', kid: KEY_ID, typ: 'at+jwt' })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(wallet)
        .setIssuedAt()
        .setExpirationTime('6h')
        .sign(privateKey),
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** What users send, in the generator's order: each takes the free perk of one of the brands, again and again, on its page. The first is number `from`. */
export async function relayRequests(
  identity: Awaited<ReturnType<typeof startIdentity>>,
  { perks, brands, users, from }: { perks: Hex; brands: Brand[]; users: number; from: number },
): Promise<{ headers: Record<string, string>; body: string }[]> {
  const requests = [];
  for (let index = from; index < from + users; index++) {
    const userAddress = numberToHex((1n << 101n) + BigInt(index), { size: 20 });
    const data = encodeFunctionData({
      abi: perkNFTAbi,
      functionName: 'purchaseFor',
      args: [userAddress, BigInt(perkOfBrand(index % brands.length)), 0n],
    });
    const brand = brands[index % brands.length];
    requests.push({
      headers: {
        authorization: `Bearer ${await identity.tokenFor(userAddress)}`,
        origin: `https://${brand?.domain}`,
      },
      body: JSON.stringify({ to: perks, userAddress, data }),
    });
  }
  return requests;
}
