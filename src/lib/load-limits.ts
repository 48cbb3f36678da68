/** How much a load test may send, whether it is started by a command or by a request. */
export const loadLimits = {
  /** All calls are signed and held in memory before the first is sent. */
  usersMax: 2_000,
  perUserMax: 500,
  /** More would wait in the sockets of this machine. */
  concurrencyMax: 5_000,
  concurrencyDefault: 50,
  usersDefault: 50,
} as const;
