/** GET openapi.json and GET docs: a host's own description, for programs, and for people as one page that needs nothing from elsewhere. */
import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { JsonSchema, RequestExample } from '../../contract/endpoint.ts';
import { takenForms } from '../../contract/shapes.ts';
import { shellQuoted } from '../../lib/text/shell-quoted.ts';
import { cacheableAnswer, entityTagOf } from '../frame/answer.ts';
import type { ApiDocument } from '../openapi.ts';
import { fieldsOf, limitsOf, typeOf } from './field-table.ts';
import pageScript from './page.browser.js';
import pageStyle from './page.css';

/** Where requests go in the page, until its script knows where it was loaded from. */
const ANY_ORIGIN = 'http://127.0.0.1:8787';

type Operation = ApiDocument['paths'][string][string];

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
/** Plain text with `code` in it, in paragraphs. */
const prose = (text: string) =>
  text
    .split('\n\n')
    .map((paragraph) => `<p>${words(paragraph)}</p>`)
    .join('');
const words = (text: string) => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');
const json = (value: unknown) => `<pre tabindex="0">${escaped(JSON.stringify(value, null, 2))}</pre>`;
const table = (head: string[], rows: string[][]) =>
  rows.length === 0
    ? ''
    : `<div class="wide" tabindex="0" role="group" aria-label="${head[0]}"><table><thead><tr>${head.map((cell) => `<th scope="col">${cell}</th>`).join('')}</tr></thead><tbody>${rows
        .map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
        .join('')}</tbody></table></div>`;

const sha256 = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Lets the page run its own script and style, and reach nothing at all. */
const pagePolicy = [
  "default-src 'none'",
  `script-src ${sha256(pageScript)}`,
  `style-src ${sha256(pageStyle)}`,
  // The empty icon: without one, browsers ask for /favicon.ico.
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Another host's reference. */
export interface ReferenceLink {
  title: string;
  href: string;
}

export function referencePage(api: ApiDocument, references: readonly ReferenceLink[] = []): string {
  const others = references
    .filter(({ title }) => title !== api.info.title)
    .map(({ title, href }) => `<li><a href="${escaped(href)}">${escaped(title)}</a></li>`)
    .join('');
  const resolve = ({ $ref, ...own }: JsonSchema): JsonSchema =>
    $ref ? { ...api.components.schemas[$ref.split('/').at(-1) ?? ''], ...own } : own;
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const ofTag = (tag: string) => operations.filter(({ operation }) => operation.tags.includes(tag));
  const nav = api.tags
    .map(
      ({ name }) =>
        `<h2>${escaped(name)}</h2><ul>${ofTag(name)
          .map(
            ({ path, method, operation }) =>
              `<li><a href="#${operation.operationId}"><b class="${method}">${method}</b> ${escaped(path.split('/').at(-1) ?? path)}</a></li>`,
          )
          .join('')}</ul>`,
    )
    .join('');
  const sections = api.tags
    .map(
      ({ name, description }) =>
        `<h2>${escaped(name)}</h2><p>${words(description)}</p>${ofTag(name)
          .map((one) => operationSection(api, { ...one, resolve }))
          .join('')}`,
    )
    .join('');
  const schemes = Object.entries(api.components.securitySchemes).map(([name, { description }]) => [
    `<code>Authorization: Bearer &lt;${name}&gt;</code>`,
    words(description),
  ]);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(api.info.title)}</title>
<link rel="icon" href="data:,">
<style>${pageStyle}</style>
</head>
<body data-any-origin="${ANY_ORIGIN}">
<nav><a class="home" href="#top">${escaped(api.info.title)}</a>${nav}<h2>More</h2><ul><li><a href="#errors">Errors</a></li><li><a href="openapi.json">OpenAPI document</a></li>${others}</ul></nav>
<main id="top">
<h1>${escaped(api.info.title)} <small>${escaped(api.info.version)}</small></h1>
${prose(api.info.description)}
${table(['key', 'what it is'], schemes)}
${sections}
${takenSection(api)}
<section id="errors"><h2>Errors</h2>
<p>Every refusal has this body; its <code>details</code> hold what the refusal is about. Where waiting helps, the header <code>Retry-After</code> and <code>details.retryAt</code> say how long.</p>
${table(['status', 'error', 'when'], errorRows(api))}
</section>
</main>
<script>${pageScript}</script>
</body>
</html>
`;
}

const errorRows = (api: ApiDocument) =>
  Object.keys(api.components.examples).map((code) => {
    const { status, error, when } = refusalOf(api, code);
    return [statusMark(status), escaped(error), `${words(when)} <small>${escaped(code)}</small>`];
  });

function operationSection(
  api: ApiDocument,
  {
    path,
    method,
    operation,
    resolve,
  }: { path: string; method: string; operation: Operation; resolve: (schema: JsonSchema) => JsonSchema },
): string {
  const body = operation.requestBody?.content['application/json'].schema;
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: place, required, schema, description }) => [
      `<code>${escaped(name)}</code> <small>${place}${required ? ', required' : ''}</small>`,
      escaped(typeOf(resolve(schema), resolve)),
      described(description ?? '', limitsOf(resolve(schema))),
    ],
  );
  const fields = (schema: JsonSchema, remark: (required: boolean) => string) =>
    fieldsOf(schema, resolve).map(({ name, type, required, limits, description }) => [
      `<code>${escaped(name)}</code> <small>${remark(required)}</small>`,
      escaped(type),
      described(description, limits),
    ]);
  const ofBody = (required: boolean) => (required ? 'required' : '');
  const ofAnswer = (required: boolean) => (required ? '' : 'not always');
  const curls = operation['x-examples'].map(
    (example) =>
      `<figure><figcaption>${escaped(example.summary)}<button type="button">Copy</button></figcaption><pre class="curl" tabindex="0">${escaped(curlOf(api, { path, method, operation, example }))}</pre></figure>`,
  );
  const responses = Object.entries(operation.responses);
  const answers = responses
    .filter(([status]) => Number(status) < 400)
    .map(([status, response]) => {
      const media = Object.values(response.content ?? {})[0];
      const schema = media && 'schema' in media ? media.schema : undefined;
      const headers = Object.keys(response.headers).filter((name) => /^(ETag|Cache-Control)$/.test(name));
      return `<h4>${statusMark(status)} ${words(response.description)}</h4>${
        headers.length > 0
          ? `<p>Headers: ${headers.map((name) => `<code>${name}</code>`).join(', ')}</p>`
          : ''
      }${schema ? table(['field', 'type', 'meaning'], fields(schema, ofAnswer)) : ''}${
        media && 'example' in media ? json(media.example) : ''
      }`;
    });
  const refusals = responses.flatMap(([, { content }]) =>
    Object.values(content ?? {}).flatMap((media) => ('examples' in media ? Object.keys(media.examples) : [])),
  );
  const keys = (operation.security ?? []).flatMap((one) => Object.keys(one));
  const optional = operation.security?.some((one) => Object.keys(one).length === 0);
  return `<section id="${operation.operationId}">
<h3><b class="${method}">${method}</b> <code>${escaped(path)}</code></h3>
<p class="lead">${words(operation.summary)}</p>${prose(operation.description ?? '')}
${keys.length > 0 ? `<p>Key: <code>Authorization: Bearer &lt;${keys.join()}&gt;</code>${optional ? ', optional' : ''}.</p>` : ''}
${table(['parameter', 'type', 'meaning'], parameters)}
${body ? table(['field of the body', 'type', 'meaning'], fields(body, ofBody)) : ''}
${curls.join('')}
${answers.join('')}
${refusals.length > 0 ? `<h4>Refusals</h4>${refusals.map((code) => refusalLine(api, code)).join('')}` : ''}
</section>`;
}

const described = (description: string, limits: string) =>
  [words(description), limits && `<small>${withLinks(escaped(limits))}</small>`].filter(Boolean).join(' ');

const placeOf = (title: string) => `taken-${title.replaceAll(' ', '-')}`;
/** Forms that are told elsewhere on the page lead there. */
const withLinks = (limits: string) =>
  Object.keys(takenForms).reduce(
    (text, title) => text.replace(title, `<a href="#${placeOf(title)}">${title}</a>`),
    limits,
  );

/** What is taken where a pattern has a title, for the titles that this description has. */
function takenSection(api: ApiDocument): string {
  const text = JSON.stringify([api.components.schemas, api.paths]);
  const used = Object.entries(takenForms).filter(([title]) => text.includes(`"title":"${title}"`));
  if (used.length === 0) return '';
  const forms = used.map(
    ([title, taken]) => `<dt id="${placeOf(title)}">${title}</dt><dd>${words(taken)}</dd>`,
  );
  return `<section id="taken"><h2>What is taken</h2><dl>${forms.join('')}</dl></section>`;
}

/** A refusal in one line, with its body folded away. */
function refusalLine(api: ApiDocument, code: string): string {
  const { status, error, when, value } = refusalOf(api, code);
  return `<details><summary>${statusMark(status)} ${escaped(error)} <small>${words(when)}</small></summary>${json(value)}</details>`;
}

function refusalOf(api: ApiDocument, code: string) {
  const { summary = '', value } = api.components.examples[code] ?? {};
  const [status = '', when = ''] = summary.split(/: (.*)/s);
  const error = typeof value === 'object' && value !== null && 'error' in value ? String(value.error) : '';
  return { status, when, error, value };
}

const statusMark = (status: string) => `<b class="s${status[0]}">${status}</b>`;

/** A line that can be pasted into a shell. */
function curlOf(
  api: Pick<ApiDocument, 'servers'>,
  request: { path: string; method: string; operation: Operation; example: RequestExample },
): string {
  const { method, example, operation } = request;
  const base = new URL(api.servers[0]?.url ?? '/', ANY_ORIGIN).href.replace(/\/$/, '');
  const path = request.path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(example.path?.[name] ?? name),
  );
  const query = new URLSearchParams(example.query).toString();
  const url = `${base}${path}${query && `?${query}`}`;
  const [key] = operation.security ?? [];
  const headers = {
    ...(key && Object.keys(key).length > 0 && { Authorization: `Bearer <${Object.keys(key).join()}>` }),
    ...(example.body !== undefined && { 'Content-Type': 'application/json' }),
    ...example.headers,
  };
  const usual = method === (example.body === undefined ? 'get' : 'post');
  return [
    `curl -sS ${usual ? '' : `-X ${method.toUpperCase()} `}${shellQuoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(example.body === undefined ? [] : [`-d ${shellQuoted(JSON.stringify(example.body, null, 2))}`]),
  ].join(' \\\n  ');
}

/** For any host: `describe` makes its document at the first request for it. */
export function apiReference(
  describe: () => ApiDocument,
  references: readonly ReferenceLink[] = [],
): Record<'openapi' | 'docs', (context: Context) => Response> {
  const json = once(() => named(JSON.stringify(describe()), { 'content-type': 'application/json' }));
  const page = once(() =>
    named(referencePage(describe(), references), {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': pagePolicy,
      'referrer-policy': 'no-referrer',
    }),
  );
  return {
    openapi: ({ req }) => cacheableAnswer(req.raw, json()),
    docs: ({ req }) => cacheableAnswer(req.raw, page()),
  };
}

/** Browsers revalidate it every time; it is sent again only when the program has changed. */
const named = (text: string, headers: Record<string, string>) => ({
  text,
  etag: entityTagOf(text),
  headers: { ...headers, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' },
});

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
