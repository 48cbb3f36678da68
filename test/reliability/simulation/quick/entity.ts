/** Drizzle's `is`, which asks about the same few classes a thousand times a seed: each question is answered once. */

export const entityKind = Symbol.for('drizzle:entityKind');
export const hasOwnEntityKind = Symbol.for('drizzle:hasOwnEntityKind');

interface Entity {
  [entityKind]?: string;
}

const answers = new Map<object, Map<object, boolean>>();

export function is(value: unknown, type: (abstract new (...args: never[]) => unknown) & Entity): boolean {
  if (!value || typeof value !== 'object') return false;
  const of = Object.getPrototypeOf(value) as object;
  let known = answers.get(type);
  if (!known) {
    known = new Map();
    answers.set(type, known);
  }
  const answer = known.get(of);
  if (answer !== undefined) return answer;
  const fresh = value instanceof type || isOfKind(of.constructor as Entity, type);
  known.set(of, fresh);
  return fresh;
}

function isOfKind(given: Entity | null, type: Entity): boolean {
  for (let one = given; one; one = Object.getPrototypeOf(one) as Entity | null)
    if (entityKind in one && one[entityKind] === type[entityKind]) return true;
  return false;
}
