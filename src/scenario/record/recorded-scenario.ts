/** Kept requests as a scenario: a step for each, the clock moved as it moved in between, and ids and e-mails as variables; or one as a step alone. */
import { stringify } from 'yaml';
import type { RequestDetail } from '../../contract/control/requests.ts';
import { formatDuration } from '../../lib/duration.ts';
import { FORMAT_VERSION } from '../format/scenario-schema.ts';
import type { JsonObject } from '../steps/step-context.ts';
import { isEmail, isRandom, type KnownStack, type Names, namesOf, renamed } from './known-names.ts';
import { requestStep } from './request-step.ts';

interface Recording {
  yaml: string;
  steps: number;
  /** Requests that the scenario does not have, and why. */
  leftOut: { id: string; method: string; path: string; why: string }[];
}

/** Waits that a scenario repeats; shorter ones add up until they are as long. */
const WAIT_MIN_MS = 10_000;
/** Descriptions, pages and scripts, which no rule is about. */
const PAGES = /^\/(?:$|docs|openapi|sdk\.js|favicon|rewards-api\/?$)/;

/** `requests` in the order in which they came. */
export function recordedScenario(
  requests: readonly RequestDetail[],
  { stack, name }: { stack: KnownStack; name: string },
): Recording {
  const steps: JsonObject[] = [];
  const leftOut: Recording['leftOut'] = [];
  const paid = new Set<string>();
  const naming = createNaming(stack);
  const [first] = requests;
  let atMs = first ? Date.parse(first.at) : 0;
  for (const request of requests) {
    if (PAGES.test(request.path) || ['OPTIONS', 'HEAD'].includes(request.method)) continue;
    const recorded = requestStep(request, { stack, isNamed: naming.isNamed });
    if (recorded === 'by itself') continue;
    if ('leftOut' in recorded) {
      const { id, method, path } = request;
      leftOut.push({ id, method, path, why: recorded.leftOut });
      continue;
    }
    // Told again of one payment, or by another event: the step has paid already.
    const session = JSON.stringify(recorded.step.pay);
    if (session !== undefined && paid.size === paid.add(session).size) continue;
    const waitedMs = Math.floor((Date.parse(request.at) - atMs) / 1_000) * 1_000;
    if (waitedMs >= WAIT_MIN_MS) {
      steps.push({ clock: { advance: formatDuration(waitedMs) } });
      atMs += waitedMs;
    }
    steps.push(naming.named(recorded.step));
    naming.learn(request.responseBody, steps.length - 1);
  }
  const { vars, ids } = naming.found();
  const file = {
    version: FORMAT_VERSION,
    name,
    ...(first && { clock: { start: first.at } }),
    ...(Object.keys(vars).length > 0 && { vars }),
    steps: steps.map((step, place) => ({ ...(ids.has(place) && { id: idOf(place) }), ...step })),
  };
  return { yaml: stringify(file, { lineWidth: 110 }), steps: steps.length, leftOut };
}

const idOf = (place: number) => `step${place + 1}`;

/** Names for what differs from run to run: of the stack, of earlier answers, and variables for the rest. */
function createNaming(stack: KnownStack) {
  const names: Names = namesOf(stack);
  const own = new Set(stack.users.map(({ email }) => email.toLowerCase()));
  const vars: Record<string, string> = {};
  const ids = new Set<number>();
  const counted = { user: 0, id: 0 };
  const knownName = (word: string): string | undefined => {
    const known = names.get(word.toLowerCase());
    const [, place] = /^\$\{steps\.step(\d+)\./.exec(known ?? '') ?? [];
    if (place !== undefined) ids.add(Number(place) - 1);
    return known;
  };
  const nameOf = (word: string): string | undefined => {
    const known = knownName(word);
    if (known !== undefined) return known;
    const kind = isEmail(word) && !own.has(word.toLowerCase()) ? 'user' : isRandom(word) ? 'id' : undefined;
    if (kind === undefined) return undefined;
    counted[kind] += 1;
    const variable = `${kind}${counted[kind]}`;
    vars[variable] = word;
    names.set(word.toLowerCase(), `\${vars.${variable}}`);
    return `\${vars.${variable}}`;
  };
  return {
    named: ({ expect, ...step }: JsonObject): JsonObject => ({
      ...(renamed(step, nameOf) as JsonObject),
      // What an answer repeats of its request has the request's name; nothing new gets one here.
      ...(expect !== undefined && { expect: renamed(expect, knownName) }),
    }),
    /** Ids of an answer, under which later requests name what it made. */
    learn(body: string | null, place: number) {
      for (const [path, text] of leavesOf(jsonOf(body), `steps.${idOf(place)}.body`)) {
        const isId = isRandom(text) || (/^[a-z]{2,10}_\w{8,}$/.test(text) && /\d/.test(text));
        if (isId && !names.has(text.toLowerCase())) names.set(text.toLowerCase(), `\${${path}}`);
      }
    },
    isNamed: (text: string) => names.has(text.toLowerCase()),
    found: () => ({ vars, ids }),
  };
}

function leavesOf(value: unknown, path: string): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    leavesOf(inner, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`),
  );
}

function jsonOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** `leftOut`: why a scenario cannot have it. Random ids are drawn anew with each run. */
export function singleStep(
  request: RequestDetail,
  stack: KnownStack,
): { yaml: string } | { leftOut: string } {
  const names = namesOf(stack);
  const isNamed = (text: string) => names.has(text.toLowerCase());
  const recorded = requestStep(request, { stack, isNamed });
  if (recorded === 'by itself') return { leftOut: 'the payment processor sends it by itself' };
  if ('leftOut' in recorded) return recorded;
  const { expect, ...step } = recorded.step;
  const known = (word: string) => names.get(word.toLowerCase());
  const drawn = (word: string) => {
    if (!isRandom(word)) return undefined;
    return word.startsWith('0x') ? `0x\${hex(32)}` : `\${uuid()}`;
  };
  const written = {
    ...(renamed(step, (word) => known(word) ?? drawn(word)) as typeof step),
    ...(expect !== undefined && { expect: renamed(expect, known) }),
  };
  return { yaml: stringify([written], { lineWidth: 110 }).trimEnd() };
}
