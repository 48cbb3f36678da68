/** Where a service of this ledger may send requests, as far as it is known without one. */
import type { Reach } from '../../outgoing/target.ts';

/** What the operator names for `start` too. */
export interface OwnReach {
  /** Networks that are not public. */
  networks: readonly string[];
  /** Ports beside 443. */
  ports: readonly number[];
}

export const publicReach = ({ networks, ports }: OwnReach): Reach => ({ to: 'public', ports, networks });
