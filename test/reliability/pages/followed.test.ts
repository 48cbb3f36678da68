/** Every shell block of every page runs as it stands, in order, on one stack a page, and prints what the page shows. */
import { readdir } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { followPage, readPage } from './follow-page.ts';
import { blocksOf } from './read-page.ts';

vi.setConfig({ testTimeout: 420_000 });

const docs = await readdir(new URL('../../../docs', import.meta.url), { recursive: true });
const names = [
  'README.md',
  ...docs
    .filter((name) => name.endsWith('.md') && !name.startsWith('decisions/'))
    .map((name) => `docs/${name}`),
].sort();
const pages = await Promise.all(
  names.map(async (name) => ({ name, blocks: blocksOf(name, await readPage(name)) })),
);
const only = process.env.PAGE;

describe.concurrent('pages', () => {
  for (const { name, blocks } of pages) {
    const commands = blocks.flatMap((block) => block.steps).length;
    if (commands === 0 || (only !== undefined && only !== name)) continue;
    test(`${name}: ${commands} commands`, async () => {
      const reader = await followPage();
      try {
        const wrong: string[] = [];
        for (const { steps } of blocks) {
          await reader.beginBlock();
          for (const step of steps) {
            const verdict = await reader.run(step);
            if (verdict !== undefined) wrong.push(`${name}:${step.line}  ${step.command}\n${verdict}`);
          }
        }
        expect(wrong.join('\n\n')).toBe('');
      } finally {
        expect(await reader.stop()).toBeUndefined();
      }
    });
  }
});

test('a block that cannot be run says why', () => {
  const reasons = pages.flatMap(({ name, blocks }) =>
    blocks.flatMap(({ norun, line }) => (norun === undefined ? [] : { name, line, norun })),
  );
  expect(reasons.filter(({ norun }) => norun.length < 12)).toEqual([]);
});
