/** JSON from a provider: within limits of size and time, and only from the address that was asked. */

export interface FetchLimits {
  timeoutMs: number;
  bytesMax: number;
}

/** Throws unless a complete 200 answer of JSON comes within the limits; redirects are not followed. */
export async function fetchJson(url: string, { timeoutMs, bytesMax }: FetchLimits): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    // Leaving the loop ends the connection.
    if (length > bytesMax) throw new Error(`answered more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw new Error('answered with something that is not JSON');
  }
}
