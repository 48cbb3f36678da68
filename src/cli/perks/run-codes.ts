/** `rewards perks check-code|use-code`: what a brand's server does with the code that a user shows. */
import type { CodeBody } from '../../client/bodies.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { keyHeader } from '../machine/read-input.ts';
import type { LedgerOptions } from '../machine/setting-options.ts';
import { demandBrand } from '../service/named-brand.ts';
import { noteRequest, serviceResult } from '../service/service-reply.ts';
import { clientFor } from '../service/target.ts';
import { serviceTarget } from './service-target.ts';
import { codeLine } from './view.ts';

interface CodeOptions extends LedgerOptions {
  code: string;
  brand?: string;
  apiKeyFile?: string;
}

export const checkCode: Handler<CodeOptions> = (context, options) => ask(context, options, 'check-code');
export const useCode: Handler<CodeOptions> = (context, options) => ask(context, options, 'use-code');

async function ask(context: CommandContext, options: CodeOptions, verb: 'check-code' | 'use-code') {
  const target = await serviceTarget(context, options);
  const { brandId } = await demandBrand(context, target, options.brand, options);
  const headers = await keyHeader(context.runtime, options.apiKeyFile);
  const reply = await clientFor(target, context).request<CodeBody>({
    host: 'services',
    path: `/perks/${verb}`,
    method: 'POST',
    body: { brandId, code: options.code },
    headers,
  });
  noteRequest(context, reply);
  return serviceResult(reply, { text: (style) => codeLine(reply.body, style) });
}
