/** What a connection to a node may take, from any part of the program. */

export const rpcLimits = {
  /** The same bytes can be sent again, so giving up is safe. */
  timeoutMs: 10_000,
  /** Far more than the receipts of any block; less than what would take a process's memory. */
  answerMaxBytes: 256 * 1024 * 1024,
  /** What Erigon takes unless it is told otherwise, the least among nodes; one that takes no batch is asked one by one. */
  batchMax: 100,
} as const;
