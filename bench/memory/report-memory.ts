/** Loaded into the program that is measured (`--import`): answers each message with what the process holds after a collection. */
process.on('message', () => {
  // Twice: what the first collection finalises, the second frees.
  globalThis.gc?.();
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ rss, heapUsed, external });
});
// The program ends as it would without this channel.
process.channel?.unref();
