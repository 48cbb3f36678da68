/** Where a service of this ledger may send requests, as far as it is known without one. */
import type { Reach } from '../../outgoing/target.ts';

/** Which ports it may use beside 443 only the running service knows; it judges every URL once more at each attempt. */
const ANY_PORT = Array.from({ length: 65_535 }, (_, before) => before + 1);

/** `networks`: those that the operator names for `start` too. */
export const publicReach = (networks: readonly string[]): Reach => ({
  to: 'public',
  ports: ANY_PORT,
  networks,
});
