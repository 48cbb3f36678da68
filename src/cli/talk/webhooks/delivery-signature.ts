/** `rewards webhooks deliveries signature`: what was signed, header by header, and what a verifier sees. */
import * as webhooks from '../../../contract/control/webhooks.ts';
import { formatDuration } from '../../../lib/duration.ts';
import { asks } from '../../service/control.ts';
import type { Style } from '../../terminal/style.ts';
import { eventId } from './endpoints.ts';

export const showSignature = asks(webhooks.showSignature, {
  request:
    ({ id, at }: { id: string; at?: string }) =>
    async (call) => ({ path: { id: await eventId(call, id) }, query: { at } }),
  text: ({ body, endpoints }, style) =>
    endpoints.length === 0
      ? style.dim('the endpoints that it went to are removed, and their secrets with them')
      : endpoints.map((one) => endpointText(one, { body, style })).join('\n\n'),
});

type Endpoint = webhooks.DeliverySignatures['endpoints'][number];

function endpointText(endpoint: Endpoint, { body, style }: { body: string; style: Style }): string {
  const { url, endpointId, signedAt, isOfAttempt, rotates, signatures } = endpoint;
  const when = isOfAttempt ? `signed ${signedAt}` : `would be signed ${signedAt}; no attempt was made`;
  return [
    `${style.bold(url)}  ${style.dim(endpointId)}`,
    `  ${when}${rotates ? '; the previous secret signs as well' : ''}`,
    ...signatures.flatMap((one) => signatureLines(one, style)),
    style.dim('  <body>'),
    body,
  ].join('\n');
}

function signatureLines(signature: Endpoint['signatures'][number], style: Style): string[] {
  const { header, value, key, prefix, verifies, failed, ageSeconds } = signature;
  const age = ageSeconds === null ? '' : style.dim(`  ${formatDuration(Math.abs(ageSeconds) * 1_000)} old`);
  return [
    `  ${verifies ? style.green('✓') : style.red('✗')} ${header}: ${value}`,
    `      ${style.dim('signed')}  ${prefix}<body>  ${style.dim(`under ${key}`)}${age}`,
    ...(failed
      ? [`      ${failed.part}: ${failed.message}`, `      ${style.dim('fix')}  ${failed.fix}`]
      : []),
  ];
}
