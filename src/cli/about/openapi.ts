/** `rewards openapi`: builds the document that the service serves. */
import { apiDocumentOf, type DescribedHost } from '../../compose/hosts/api-document.ts';
import type { Handler } from '../machine/context.ts';

/** Default address of `rewards serve`. */
const USUAL_ORIGIN = 'http://127.0.0.1:8787';

export const printOpenapi: Handler<{ host: DescribedHost }> = async (context, { host }) => {
  const document = apiDocumentOf(host, context.settings.target ?? USUAL_ORIGIN);
  return { ok: true, data: document, text: () => JSON.stringify(document, null, 2) };
};
