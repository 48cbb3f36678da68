/** Users of another project's identity provider: their issuer, the settings that trust it, and their tokens. */
import { OAuth2Server } from 'oauth2-mock-server';

export const AUDIENCE = 'https://relay.rewards.example';

export async function startIssuer() {
  const server = new OAuth2Server();
  const key = await server.issuer.keys.generate('RS256');
  await server.start(0, 'localhost');
  const url = server.issuer.url ?? '';
  return {
    url,
    keys: server.issuer.keys,
    key,
    settings: {
      REWARDS_IDENTITY: 'oidc',
      REWARDS_IDENTITY_ISSUER: url,
      REWARDS_IDENTITY_AUDIENCE: AUDIENCE,
      REWARDS_IDENTITY_WALLET_CLAIM: 'wallet',
      REWARDS_EXPLORER_URL: 'https://explorer.example/',
    },
    /** The token of a wallet's owner; `change`: what is different in it. */
    tokenOf: (wallet: string, change: Record<string, unknown> = {}) =>
      server.issuer.buildToken({
        scopesOrTransform: (_header, payload) => {
          Object.assign(payload, { sub: 'user_1', aud: AUDIENCE, wallet, scope: 'openid rewards' }, change);
        },
      }),
    stop: async () => {
      if (server.listening) await server.stop();
    },
  };
}

export type Issuer = Awaited<ReturnType<typeof startIssuer>>;
