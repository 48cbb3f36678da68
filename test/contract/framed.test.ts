/** The steps around a handler: in which order they are asked, and what becomes of one that fails. */
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { type FrameStep, framed } from '../../src/http/frame/framed.ts';
import type { RequestVariables } from '../../src/http/frame/request-record.ts';

/** Answers one request within an outer step and these; `seen` has what was asked, in its order. */
async function ask(inner: FrameStep, handler = () => new Response('handled')) {
  const seen: string[] = [];
  const outer: FrameStep = {
    before: () => void seen.push('before'),
    after: async (_, answer) => void seen.push(`after ${answer.status}`),
  };
  const frame = framed([outer, inner], (error) => new Response(String(error), { status: 500 }));
  const app = new Hono<RequestVariables>().get('/', frame(handler));
  const answer = await app.request('/');
  return { seen, status: answer.status, text: await answer.text() };
}

const failing = () => {
  throw new Error('it fails');
};
const failingLater = () => Promise.reject(new Error('it fails'));

test('the answer is the handler’s, and steps see it', async () => {
  expect(await ask({})).toEqual({ seen: ['before', 'after 200'], status: 200, text: 'handled' });
});

test('a step may answer in place of the handler, and sees its own answer', async () => {
  const seen: number[] = [];
  const step: FrameStep = {
    before: async () => new Response('early', { status: 202 }),
    after: (_, { status }) => void seen.push(status),
  };
  expect(await ask(step, failing)).toEqual({ seen: ['before', 'after 202'], status: 202, text: 'early' });
  expect(seen).toEqual([202]);
});

test('a step may answer in place of the answer that is there', async () => {
  const step: FrameStep = { after: async () => new Response('other', { status: 201 }) };
  expect(await ask(step)).toEqual({ seen: ['before', 'after 201'], status: 201, text: 'other' });
});

test.each<[string, FrameStep, (() => Response)?]>([
  ['a handler', {}, failing],
  ['before', { before: failing }],
  ['before, later', { before: failingLater }],
  ['after', { after: failing }],
  ['after, later', { after: failingLater }],
])('what fails is answered, and the step around it sees that: %s', async (_, step, handler) => {
  const { seen, status, text } = await ask(step, handler);
  expect({ seen, status }).toEqual({ seen: ['before', 'after 500'], status: 500 });
  expect(text).toContain('it fails');
});

test('of a step that failed before the handler, nothing is asked after it', async () => {
  const after: string[] = [];
  await ask({ before: failing, after: () => void after.push('asked') });
  expect(after).toEqual([]);
});
