/** `rewards openapi`: the same document that the service hands out, made here. */
import { apiDocumentOf, type DescribedHost } from '../../compose/api-document.ts';
import type { Handler } from '../machine/context.ts';

/** Where `rewards serve` answers when it is not told otherwise. */
const USUAL_ORIGIN = 'http://127.0.0.1:8787';

export const printOpenapi: Handler<{ host: DescribedHost }> = async (context, { host }) => {
  const document = apiDocumentOf(host, context.settings.target ?? USUAL_ORIGIN);
  return { ok: true, data: document, text: () => JSON.stringify(document, null, 2) };
};
