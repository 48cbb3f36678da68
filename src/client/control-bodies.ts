/** What the emulator's control API answers, as far as callers rely on it. Times are RFC 3339 unless named otherwise. */
import type { z } from 'zod';
import type { brandList, ruleResult } from '../contract/control/control.ts';

/** The emulator's clock; times in milliseconds. */
export interface ClockBody {
  now: string;
  nowMs: number;
  frozen: boolean;
  offsetMs: number;
}

/** One request of the log. */
export interface RequestSummary {
  /** `req_` and 20 random digits; the beginning will do to name it. */
  id: string;
  /** By the emulator's clock. */
  at: string;
  method: string;
  path: string;
  /** With its question mark. */
  search: string;
  status: number;
  durationMs: number;
  /** `rewarded`, or why not; null for a request without an event. */
  decision: string | null;
  user: string | null;
  eventType: string | null;
  brandId: string | null;
  /** When the check that refused would pass; null: not by waiting. */
  passesAt: string | null;
  /** RWT. */
  rewardAmount: number | null;
  transactionHash: string | null;
  error: string | null;
  /** How many events it carried, and how many of them were rewarded. */
  events: number;
  rewarded: number;
}

export interface CheckBody {
  name: string;
  outcome: 'ok' | 'refused' | 'skipped' | 'not reached';
  text: string;
  /** Only where it refused; null: not by waiting. */
  passesAt?: string | null;
  or?: string;
}

export interface ExplainedEvent {
  eventType: string | null;
  user: string | null;
  /** In the order in which they are made. */
  checks: CheckBody[];
  /** When the event would pass every check; null: it was rewarded, or waiting does not help. */
  passesAt: string | null;
  never: { check: string; text: string } | null;
}

export interface RequestDetail extends RequestSummary {
  /** The emulator's time when this was asked. */
  now: string;
  origin: string | null;
  requestBody: string | null;
  responseBody: string | null;
  withBrandKey: boolean;
  /** One for each event of the request. */
  explained: ExplainedEvent[];
}

export interface RequestListBody {
  /** Newest first. */
  requests: RequestSummary[];
}

/** Which requests are wanted; every part narrows the choice. */
export interface RequestFilter {
  /** `429` or `4xx`. */
  status?: string | undefined;
  method?: string | undefined;
  /** A part of the path. */
  path?: string | undefined;
  user?: string | undefined;
  limit?: number | undefined;
  /** Only requests younger than this one. */
  after?: string | undefined;
}

/** An event's rule. Limits are -1 where there is none. */
export type RuleBody = z.output<typeof ruleResult>;
export type BrandBody = z.output<typeof brandList>['brands'][number];

export interface BrandDetail extends BrandBody {
  keys: { keyId: string; createdAt: string; expiresAt: string | null }[];
  rules: RuleBody[];
  gasWallet: { address: string; ready: boolean } | null;
}

/** A key as it is shown once. */
export interface NewKeyBody {
  keyId: string;
  apiKey: string;
  /** When the keys before this one stop to work; null: there are none. */
  othersExpireAt: string | null;
}

export interface DnsRecordBody {
  type: 'TXT';
  name: string;
  value: string;
}
