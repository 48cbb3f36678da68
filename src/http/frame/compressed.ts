/** Compresses large answers for callers that ask for it (RFC 9110, Accept-Encoding). */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { isSmaller } from './answer.ts';
import type { FrameStep } from './framed.ts';

/** Below this the headers of compression and its time cost more than it saves. */
const LEAST_BYTES = 1_024;
/** Answers that are named by an ETag are compressed once: the descriptions, the script, the configurations of some brands. */
const KEPT_MAX = 32;
/** Larger ones are compressed each time, so that those that are kept take at most 8 MiB. */
const KEPT_BYTES_MAX = 256 * 1024;
/** Nearly as small as the best, at a tenth of its time. */
const BROTLI_QUALITY = 5;
const TEXTS = /^(?:application\/json|text\/)/;

type Coding = 'br' | 'gzip';

const encoders: Record<Coding, (bytes: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (bytes) => promisify(gzip)(bytes),
};

export function compressed(): FrameStep {
  const kept = new Map<string, Uint8Array<ArrayBuffer>>();
  const encode = async (coding: Coding, bytes: Uint8Array, etag: string | null) => {
    const name = `${coding} ${etag}`;
    const known = etag === null ? undefined : kept.get(name);
    if (known) return known;
    const encoded = await encoders[coding](bytes);
    if (etag === null || encoded.length > KEPT_BYTES_MAX) return encoded;
    const [oldest] = kept.keys();
    if (kept.size >= KEPT_MAX && oldest !== undefined) kept.delete(oldest);
    kept.set(name, encoded);
    return encoded;
  };
  const encoded = async (answer: Response, coding: Coding) => {
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const etag = answer.headers.get('etag');
    const large = bytes.length >= LEAST_BYTES;
    const other = new Response(large ? await encode(coding, bytes, etag) : bytes, answer);
    if (!large) return other;
    other.headers.delete('content-length');
    other.headers.set('Content-Encoding', coding);
    // The same state in other bytes.
    if (etag?.startsWith('"')) other.headers.set('ETag', `W/${etag}`);
    return other;
  };
  return {
    after(context, answer) {
      const { method } = context.req;
      // What caches may keep differs by this header, whether or not this answer is large.
      if (method === 'GET') answer.headers.append('Vary', 'Accept-Encoding');
      if (method === 'HEAD' || isSmaller(context, answer, LEAST_BYTES)) return undefined;
      const coding = codingOf(context.req.header('accept-encoding'));
      if (!coding || answer.headers.has('content-encoding')) return undefined;
      if (!TEXTS.test(answer.headers.get('content-type') ?? '') || !answer.body) return undefined;
      return encoded(answer, coding);
    },
  };
}

/** The coding that the caller takes and that is smaller; undefined when it takes neither. */
function codingOf(header: string | undefined): Coding | undefined {
  if (!header) return undefined;
  const taken = new Map(
    header.split(',').map((part) => {
      const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
      const weight = parameters.find((text) => text.startsWith('q='))?.slice(2) ?? '1';
      return [name, Number(weight) > 0] as const;
    }),
  );
  return (['br', 'gzip'] as const).find((coding) => taken.get(coding) ?? false);
}
