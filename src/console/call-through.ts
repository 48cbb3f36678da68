/** Asks a control API that lives in this process, as its typed client does over the network. */
import type { ControlCall } from '../client/control-call.ts';
import { createClient } from '../client/create-client.ts';
import { hostUrls } from '../client/host-urls.ts';

/** A page that needs longer says so; a node that hangs must not leave a browser without one. */
const TIMEOUT_MS = 15_000;

/** `fetch` gets requests below `base`; `token` goes along where the API asks for it. */
export function callThrough(
  fetch: (request: Request) => Promise<Response>,
  { token, base = 'http://localhost/_rewards' }: { token?: string; base?: string } = {},
): ControlCall {
  const urls = { ...hostUrls(base), control: base };
  return createClient({ urls, controlToken: token, timeoutMs: TIMEOUT_MS, fetch }).call;
}
