/** What a command tells of a refusal names something to type, never a request. */
import { describe, expect, test } from 'vitest';
import { replyResult } from '../../src/cli/service/control-reply.ts';
import { serviceProblem } from '../../src/cli/service/service-reply.ts';
import { controlRefusals } from '../../src/contract/control/refusals/control-refusals.ts';
import { eventsRefusals } from '../../src/contract/events/refusals.ts';
import type { Coded, RefusalTable } from '../../src/contract/refusals.ts';
import { registerRefusals } from '../../src/contract/register/refusals.ts';
import { relayRefusals } from '../../src/contract/relay/refusals.ts';
import { servicesRefusals } from '../../src/contract/services/refusals.ts';

/** A method with a path, a header, a field of a body: what only a program can send. */
const REQUEST = /\b(?:GET|POST|PUT|PATCH|DELETE) \/|Authorization:|Bearer|Idempotency-Key|<controlToken>/;

function answersOf<R extends Coded>(table: RefusalTable<R>) {
  return table.codes.map((code) => {
    const { status, body } = table.answer(table.example(code), { nowMs: 0 });
    return { code, reply: { status, body, headers: {}, text: '' } };
  });
}

const hosts = {
  events: eventsRefusals,
  register: registerRefusals,
  relay: relayRefusals,
  services: servicesRefusals,
};

describe.each(Object.entries(hosts))('%s', (_, table) => {
  test.each(answersOf(table as RefusalTable<Coded>))('$code', ({ code, reply }) => {
    const { message, fix } = serviceProblem(reply as never) ?? {};
    expect(fix).not.toMatch(REQUEST);
    // What was asked for is named; a key is what the header is called everywhere.
    if (!['unknown_endpoint', 'idempotency_key_reused', 'request_in_progress'].includes(code))
      expect(message).not.toMatch(REQUEST);
  });
});

describe('control', () => {
  test.each(answersOf(controlRefusals as RefusalTable<Coded>))('$code', ({ reply }) => {
    const result = replyResult(reply as never, { text: () => '' });
    const { message, fix } = result.ok ? {} : (result.error as { message: string; fix: string });
    expect(`${message}\n${fix}`).not.toMatch(REQUEST);
  });
});
