/** Builds the config of production's service and identity provider from the checked settings. */
import type { ChainEngineSettings } from '../chain/engine.ts';
import type { FeePolicy } from '../chain/lane/fees.ts';
import { engineSettings, type RelayOverrides, settings } from '../compose/config.ts';
import type { ServiceConfig } from '../compose/create-service.ts';
import type { StartConfig } from './start-config.ts';

const GWEI = 1_000_000_000n;
const gwei = (amount: number) => BigInt(Math.round(amount * 1e9));
/** Precise to a billionth of the currency. */
export const native = (amount: number) => gwei(amount) * GWEI;

/** How often the ledger is asked for what other processes have queued: a payer or a user waits. The chain is not asked. */
const QUEUE_POLL_MS = 200;

export const feesOf = ({
  feeCapGwei,
  priorityFeeGwei,
}: Pick<StartConfig, 'feeCapGwei' | 'priorityFeeGwei'>): FeePolicy => ({
  feeCapWei: gwei(feeCapGwei),
  priorityFeeWei: gwei(priorityFeeGwei),
});

const productionEngine = (config: StartConfig): ChainEngineSettings =>
  engineSettings({
    payout: { idlePollMs: config.blockPollMs, offerMaxWei: native(config.offerMax) },
    lane: { inFlightMax: config.inFlightMax },
    relay: {
      idlePollMs: config.blockPollMs,
      gasCheckMs: config.checkEveryMs,
      gasLowWei: native(config.gasLow),
      gasFullWei: native(config.gasFull),
    },
    mint: { idlePollMs: QUEUE_POLL_MS },
    redeem: { idlePollMs: QUEUE_POLL_MS },
    fees: feesOf(config),
    follow: {
      confirmations: config.confirmations,
      finalityBlocks: config.finalityBlocks,
      idlePollMs: config.blockPollMs,
      busyPollMs: config.blockPollMs,
    },
  });

/** The contract's cap applies even when the engine may offer more. */
const productionRelay = ({
  gasBudget,
  gasUserShare,
  feeCapGwei,
  explorerUrl,
}: StartConfig): RelayOverrides => ({
  budgetGwei: Math.floor(gasBudget * 1e9),
  userShare: gasUserShare / 100,
  feeCapWei: gwei(Math.min(feeCapGwei, Number(settings.relayHost.feeCapWei / GWEI))),
  ...(explorerUrl !== undefined && { explorerUrl: explorerUrl.replace(/\/+$/, '') }),
});

export const productionService = (config: StartConfig): ServiceConfig => ({
  relay: productionRelay(config),
  engine: productionEngine(config),
  loopbackReturns: false,
  serviceDomains: config.publicDomains,
  proxies: config.trustedProxies,
  addressRequestsMax: config.addressRequestsMax,
  balanceKeptMs: config.blockPollMs,
  serviceName: config.serviceName,
  apiPrefix: config.apiPrefix,
  ownDomain: config.ownDomain,
  httpsOnly: true,
  answerWhen: 'sent',
  errorDialect: config.errorDialect,
  duplicateWindowMs: config.duplicateWindowMs,
});

/** How the payment processor is asked; undefined where the service takes no payments. */
export function productionPayments({
  payments,
  stripeSecretKey: secretKey,
  stripeMode,
  stripeWebhookSecrets: webhookSecrets,
}: StartConfig) {
  if (payments !== 'stripe' || secretKey === undefined) return undefined;
  return { ...settings.payments, secretKey, webhookSecrets, livemode: stripeMode === 'live' };
}

/** A session needs a new token after this time. */
const TOKEN_AGE_MAX_MS = 24 * 3_600_000;

/** How tokens are verified; undefined where users cannot log in. */
export function productionTokens(config: StartConfig) {
  const { identity, identityIssuer: issuer, identityAudience: audience } = config;
  if (identity !== 'oidc' || issuer === undefined || audience === undefined) return undefined;
  const types = config.identityTokenTypes.map((type) => type.toLowerCase());
  const scopeNeeded = config.identityTokenScope === 'required';
  return {
    ...settings.identity,
    tokens: { ...settings.identity.tokens, issuer, audience, types, scopeNeeded, ageMaxMs: TOKEN_AGE_MAX_MS },
    jwksUrl: config.identityJwksUrl,
    walletClaim: config.identityWalletClaim,
    ownDomain: config.ownDomain,
  };
}
