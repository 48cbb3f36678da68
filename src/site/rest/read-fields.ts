/** The fields of a request's body: JSON or a form, as pages, scripts and programs send them. */
import { siteSettings } from '../config.ts';

export type Fields = Record<string, unknown>;
export type ReadFields =
  | { outcome: 'read'; fields: Fields; isJson: boolean }
  | { outcome: 'too_large' }
  | { outcome: 'invalid' };

/** An empty body has no fields. Reads no further than the limit. */
export async function readFields(request: Request): Promise<ReadFields> {
  const bytes = await readBytes(request).catch(() => null);
  if (bytes === undefined) return { outcome: 'too_large' };
  if (bytes === null) return { outcome: 'invalid' };
  const type = (request.headers.get('content-type') ?? '').toLowerCase();
  const isForm = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/.test(type);
  if (isForm) return formIn(bytes, request.headers.get('content-type') ?? '');
  if (bytes.length === 0) return { outcome: 'read', fields: {}, isJson: false };
  // Pages of other sites can send any other type without asking first.
  if (!/^application\/(?:[\w.-]+\+)?json\b/.test(type)) return { outcome: 'invalid' };
  try {
    const fields: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    const isObject = typeof fields === 'object' && fields !== null && !Array.isArray(fields);
    return isObject ? { outcome: 'read', fields: fields as Fields, isJson: true } : { outcome: 'invalid' };
  } catch {
    return { outcome: 'invalid' };
  }
}

/** Texts only; of a field that comes twice the last. */
async function formIn(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<ReadFields> {
  try {
    const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
    const texts = [...form].filter(([, value]) => typeof value === 'string');
    return { outcome: 'read', fields: Object.fromEntries(texts), isJson: false };
  } catch {
    return { outcome: 'invalid' };
  }
}

/** Undefined when there are more than fit. */
async function readBytes(request: Request): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const { bodyLimitBytes } = siteSettings;
  if (Number(request.headers.get('content-length') ?? 0) > bodyLimitBytes) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body?.getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    length += read.value.length;
    if (length > bodyLimitBytes) {
      await reader?.cancel();
      return undefined;
    }
    chunks.push(read.value);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
