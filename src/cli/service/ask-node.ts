/** One question to the node of a stack. */

/** The result of a JSON-RPC call; rejects when the node does not answer in time, or with an error. */
export async function askNode<Result>(
  { url, timeoutMs }: { url: string; timeoutMs: number },
  method: string,
  params: unknown[] = [],
): Promise<Result> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const { result, error } = (await response.json()) as { result?: Result; error?: { message?: string } };
  if (error || result === undefined) throw new Error(error?.message ?? `answered ${response.status}`);
  return result;
}
