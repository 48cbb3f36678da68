/** The signatures that somebody typed: headers, or a bare value. */
import { type Given, readSignature, type Scheme, schemeOfHeader } from '../../../webhooks/schemes.ts';
import { usageError } from '../../machine/errors.ts';

/** Reads the signatures among headers (`Name: value`) and a bare value; E_USAGE without one. */
export function signaturesIn({
  headers = [],
  signature,
}: {
  headers?: string[] | undefined;
  signature?: string | undefined;
}): Given[] {
  const named = new Map(headers.map(splitHeader));
  const found = Object.entries(schemeOfHeader).flatMap(([header, scheme]) => {
    const value = named.get(header);
    if (value === undefined) return [];
    if (scheme !== 'standard-webhooks') return [{ ...readSignature(scheme, value), header }];
    return [
      {
        ...readSignature(scheme, value),
        timestamp: named.get('webhook-timestamp'),
        id: named.get('webhook-id'),
      },
    ];
  });
  if (signature !== undefined) found.push(readSignature(schemeOf(signature.trim()), signature.trim()));
  if (found.length > 0) return found;
  throw usageError(
    headers.length === 0
      ? 'There is no signature to verify.'
      : `None of the headers is a signature: ${[...named.keys()].join(', ')}.`,
    `Give the header that came with the body, such as -H 'Stripe-Signature: t=…,v1=…'. Signatures stand in ${Object.keys(schemeOfHeader).join(', ')}.`,
  );
}

function splitHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  if (colon < 1)
    throw usageError(
      `${line} is not a header.`,
      "Write it as -H 'Stripe-Signature: t=…,v1=…', name and value with a colon between them.",
    );
  return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
}

function schemeOf(signature: string): Scheme {
  if (/(^|,)\s*t=/.test(signature)) return 'processor';
  if (!signature.startsWith('v1,')) return 'service';
  throw usageError(
    'A signature of Standard Webhooks covers its id and timestamp, which are not here.',
    "Give all three headers: -H 'webhook-id: …' -H 'webhook-timestamp: …' -H 'webhook-signature: …'.",
  );
}
