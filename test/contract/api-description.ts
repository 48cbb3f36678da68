/** Reads an API description as tests need it: its operations in a list, and a check of values against its schemas. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../../src/contract/endpoint.ts';
import type { ApiDocument } from '../../src/http/openapi.ts';

export const operationsOf = (api: ApiDocument) =>
  Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

type Check = (schema: object, value: unknown) => string[];

/** Compiling a description takes some hundred times as long as a check. */
const known = { open: new WeakMap<ApiDocument, Check>(), closed: new WeakMap<ApiDocument, Check>() };

/** Everything that is wrong with a value; with `closed`, also each field that the description does not have. */
export function validatorOf(api: ApiDocument, { closed = false } = {}): Check {
  const checks = closed ? known.closed : known.open;
  const check = checks.get(api) ?? compiled(api, { closed });
  checks.set(api, check);
  return check;
}

function compiled(api: ApiDocument, { closed }: { closed: boolean }): Check {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const document = structuredClone(api) as { components: { schemas: Record<string, JsonSchema> } };
  if (closed) Object.values(document.components.schemas).forEach(close);
  ajv.addSchema(document, 'api');
  const schemas = new Map<string, ReturnType<typeof ajv.compile>>();
  return (schema, value) => {
    const own = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/');
    const validate = schemas.get(own) ?? ajv.compile(JSON.parse(own));
    schemas.set(own, validate);
    return validate(value)
      ? []
      : (validate.errors ?? []).map(
          ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
        );
  };
}

function close(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const one = schema as JsonSchema;
  if (one.type === 'object' && one.properties && one.additionalProperties === undefined) {
    one.additionalProperties = false;
  }
  for (const inner of Object.values(one)) close(inner);
}
