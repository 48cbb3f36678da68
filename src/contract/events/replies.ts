/** What the event host answers: every body of its replies (contract: Reward result, Endpoints, Errors). */
import { z } from 'zod';
import type { RefusalReply } from '../../http/events/refusals.ts';

const address = () => z.string().regex(/^0x[0-9a-fA-F]{40}$/);
const hash = () => z.string().regex(/^0x[0-9a-f]{64}$/);
const instant = () => z.iso.datetime();
const count = () => z.int().min(0);
const rwt = () => z.int().meta({ description: 'RWT.' });

export const rewardResult = z.object({
  success: z.literal(true),
  eventId: z.uuid().meta({ description: 'Id of this event.' }),
  message: z.string().meta({ description: 'For people.' }),
  rewardAmount: rwt(),
  rwtDistributed: z.int().meta({ description: 'The same as `rewardAmount`.' }),
  eventType: z.string(),
  brandId: address(),
  status: z.literal('rewarded'),
  walletCreated: z.boolean().meta({ description: 'Whether the user got a new wallet.' }),
  walletAddress: address().meta({ description: "The user's wallet." }),
  transactionHash: hash().meta({ description: 'The transaction that pays the reward, among others.' }),
  reward: z
    .object({ amount: z.int(), eventType: z.string(), walletAddress: address(), transactionHash: hash() })
    .meta({ description: 'The same facts, grouped.' }),
});
export type RewardResult = z.output<typeof rewardResult>;

const details = z
  .looseObject({
    errors: z.array(z.string()).meta({ description: 'Everything that is wrong, each with its field.' }),
    reason: z.string().meta({ description: 'Which rule refused, for programs.' }),
    message: z.string(),
    existingEventId: z.uuid().meta({ description: 'The event of which this one is a duplicate.' }),
    cooldownSeconds: count().meta({ description: "The event's whole cooldown." }),
    previousReward: z.object({ eventId: z.uuid(), rewardAmount: z.int(), timestamp: instant() }),
    remainingSeconds: count().meta({ description: 'Until the same event may pass.' }),
    retryAt: instant(),
    totalClaims: count(),
    maxClaims: z.int(),
    maxTotalClaims: z.int(),
    allowedChannels: z.array(z.string()),
    configuredDomain: z.string().nullable(),
    available: z.int().meta({ description: 'RWT in escrow.' }),
    required: z.int().meta({ description: 'RWT needed.' }),
  })
  .partial()
  .meta({ description: 'Facts about the refusal; which of them, depends on it.' });

export const refusalBody: z.ZodType<RefusalReply['body']> = z.object({
  success: z.literal(false),
  error: z.string().meta({ description: 'What is refused.' }),
  message: z.string().meta({ description: 'Why, for people.' }),
  details,
});

export const bulkResult = z.object({
  success: z.literal(true),
  processed: count().meta({ description: 'Events that were rewarded.' }),
  failed: count().meta({ description: 'Events that were refused.' }),
  results: z
    .array(
      z.union([
        rewardResult,
        z.object({
          success: z.literal(false),
          status: z.int().meta({ description: 'The status that `manual-event` would have answered.' }),
          error: z.string(),
          message: z.string(),
          details,
        }),
      ]),
    )
    .meta({ description: 'One for each event, in their order.' }),
});

export const eventConfigResult = z.object({
  success: z.literal(true),
  brandId: address(),
  events: z.array(
    z.object({
      eventId: z.string().meta({ description: "The brand's own begin with `custom_`." }),
      eventType: z.string(),
      rewardAmount: z.int().meta({ description: 'RWT per claim.' }),
      maxClaims: z.int().meta({ description: 'Claims per user; -1: no limit.' }),
      cooldownHours: z.number().min(0).meta({ description: 'Between two claims of a user; 0: none.' }),
      detectionMethod: z
        .string()
        .meta({ description: 'How a page notices the event, such as `url_pattern`.' }),
      detectionConfig: z.object({
        urlPatterns: z.array(z.string()).optional(),
        successSelectors: z.array(z.string()).optional(),
        channels: z.array(z.string()).optional().meta({ description: 'Chat channels in which it counts.' }),
      }),
      isCustom: z.boolean(),
    }),
  ),
  count: count(),
  eventNameMapping: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: 'Other names of the events, where the brand has set some.' }),
});
export type EventConfigResult = z.output<typeof eventConfigResult>;

export const balanceResult = z.object({
  success: z.literal(true),
  balance: z.int().meta({ description: 'RWT in the wallet, as the chain has it now.' }),
  walletAddress: address().nullable().meta({ description: 'Null for a user who never got a reward.' }),
  history: z
    .array(
      z.object({
        transactionHash: hash().nullable().meta({ description: 'Null until a transaction carries it.' }),
        eventType: z.string(),
        amount: z.int(),
        timestamp: z.int().meta({ description: 'Milliseconds since 1970.' }),
      }),
    )
    .optional()
    .meta({ description: 'Rewards from this brand, newest first; with `includeHistory`.' }),
});

const dependency = () => z.enum(['connected', 'disconnected']);
const dependencies = { database: dependency(), blockchain: dependency(), idp: dependency() };
const overall = () => z.enum(['healthy', 'degraded']);

export const healthResult = z.object({
  status: overall(),
  timestamp: instant(),
  services: z.object(dependencies),
});

export const diagnosticResult = z.object({ status: overall(), ...dependencies, timestamp: instant() });

export const debugResult = z.object({
  debug: z.string(),
  hostname: z.string(),
  path: z.string(),
  method: z.string(),
  timestamp: instant(),
  worker_version: z.string(),
});

export const verifyDnsResult = z.object({
  success: z.boolean().meta({ description: 'False when DNS gave no answer.' }),
  domain: z.string(),
  dnsConfigured: z.boolean().meta({ description: 'Whether a valid record links the domain to a brand.' }),
  brandId: z.string().meta({ description: 'That brand, or empty.' }),
  message: z.string(),
});
