/** `rewards openapi`: the same document that the service hands out, made here. */
import { apiDocumentOf, type DescribedHost } from '../../compose/api-document.ts';
import type { CommandContext } from '../machine/context.ts';
import type { CommandResult } from '../machine/output.ts';

/** Where `rewards serve` answers when it is not told otherwise. */
const USUAL_ORIGIN = 'http://127.0.0.1:8787';

export async function printOpenapi(
  context: CommandContext,
  { host }: { host: DescribedHost },
): Promise<CommandResult> {
  const document = apiDocumentOf(host, context.settings.target ?? USUAL_ORIGIN);
  return { ok: true, data: document, text: () => JSON.stringify(document, null, 2) };
}
