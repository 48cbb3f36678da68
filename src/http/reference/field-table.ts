/** Reads JSON schemas as people do: one line for each field, with its limits in words. */
import type { JsonSchema } from '../../contract/endpoint.ts';

export interface Field {
  /** Dotted for what is inside; `[]` for the items of a list. */
  name: string;
  type: string;
  required: boolean;
  /** Such as `at most 254 characters`. */
  limits: string;
  description: string;
}

type Resolve = (schema: JsonSchema) => JsonSchema;

/** Every field of an object, what is inside other objects and lists included. */
export function fieldsOf(schema: JsonSchema, resolve: Resolve, prefix = ''): Field[] {
  const { properties = {}, required = [] } = merged(resolve(schema), resolve);
  return Object.entries(properties).flatMap(([key, raw]) => {
    const property = resolve(raw);
    const name = prefix + key;
    const items = property.items && resolve(property.items);
    return [
      {
        name,
        type: typeOf(property, resolve),
        required: required.includes(key),
        limits: limitsOf(property),
        description: property.description ?? '',
      },
      ...fieldsOf(property, resolve, `${name}.`),
      ...(items ? fieldsOf(items, resolve, `${name}[].`) : []),
    ];
  });
}

/** The fields of all alternatives together; required is what every one of them requires. */
function merged(schema: JsonSchema, resolve: Resolve): JsonSchema {
  const objects = (schema.anyOf ?? []).map(resolve).filter(({ properties }) => properties);
  if (objects.length === 0) return schema;
  // What a field is, says the alternative that needs it.
  const needed = (key: string) => objects.find(({ required }) => required?.includes(key))?.properties?.[key];
  const requiredByAll = (objects[0]?.required ?? []).filter((key) =>
    objects.every(({ required }) => required?.includes(key)),
  );
  return {
    properties: Object.fromEntries(
      Object.entries<JsonSchema>(
        Object.assign({}, ...objects.map(({ properties }) => properties), schema.properties),
      ).map(([key, property]) => [key, needed(key) ?? property]),
    ),
    required: [...(schema.required ?? []), ...(schema.properties ? [] : requiredByAll)],
  };
}

export function typeOf(schema: JsonSchema, resolve: Resolve): string {
  const names = namesOf(schema, resolve).filter((name) => name !== 'null');
  return [...new Set(names)].join(' or ') || 'any';
}

function namesOf(schema: JsonSchema, resolve: Resolve): string[] {
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value));
  if (schema.type === 'array') return [`list of ${typeOf(resolve(schema.items ?? {}), resolve)}`];
  if (schema.type !== undefined) return [schema.type].flat();
  return (schema.anyOf ?? []).flatMap((one) => namesOf(resolve(one), resolve));
}

export function limitsOf(schema: JsonSchema): string {
  const { minLength, maxLength, minItems, maxItems, minimum, maximum } = schema;
  const number = (value: unknown) => (typeof value === 'number' ? value.toLocaleString('en') : undefined);
  const range = (least: unknown, most: unknown, unit: string) => {
    if (typeof most !== 'number' || most === Number.MAX_SAFE_INTEGER) return undefined;
    return typeof least === 'number' && least !== Number.MIN_SAFE_INTEGER
      ? `${number(least)} to ${number(most)}${unit}`
      : `at most ${number(most)}${unit}`;
  };
  return [
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' items'),
    range(minimum, maximum, ''),
    formOf(schema),
    schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
  ]
    .filter(Boolean)
    .join('; ');
}

/** The form of a text; a pattern that has a title is told by it. */
function formOf({ title, pattern, format }: JsonSchema): string | undefined {
  if (typeof format === 'string' && format !== 'int64') return format;
  if (typeof pattern !== 'string') return undefined;
  return typeof title === 'string' ? title : `matches ${pattern}`;
}
