/** What the relay takes and answers. */

/** An EIP-2612 permit. Contract: Permit. */
export interface PermitBody {
  owner: string;
  spender: string;
  value: string;
  /** Seconds since 1970. */
  deadline: number;
  v: number;
  r: string;
  s: string;
}

/** Contract: Relay request. */
export interface RelayRequestBody {
  to: string;
  data: string;
  value?: string;
  gasLimit?: number;
  userAddress: string;
  metadata?: { action?: string; perkId?: string; permit?: PermitBody; [more: string]: unknown };
}

/** Contract: Relay result, both forms. */
export interface RelayResultBody {
  success: true;
  transactionHash: string;
  gasUsed: string;
  effectiveGasPrice: string;
  blockNumber: number;
  from: string;
  to: string;
  status: 'confirmed';
  explorerUrl: string;
}

/** GET relay/<hash>. */
export interface RelayStateBody extends Partial<Omit<RelayResultBody, 'success' | 'status'>> {
  success: boolean;
  status: 'pending' | 'confirmed' | 'failed';
  transactionHash: string;
}

/** Every "no" of the relay. Contract: Relay errors. */
export interface RelayRefusalBody {
  success: false;
  error: string;
  code: string;
  details: Record<string, unknown>;
}

/** How far a limit is used up, from the three X-RateLimit headers; undefined unless all are there and whole numbers. */
export function rateWindowIn(
  headers: Readonly<Record<string, string>>,
): { limit: number; remaining: number; resetAtMs: number } | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = headers[`x-ratelimit-${name}`] ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  });
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetAtMs: reset * 1_000 };
}
