/** What axe finds on a page in a real browser: what keeps some people from reading or using it. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const program = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules whose answer depends on colours; all that the pages change in the dark are colours. */
const OF_COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };
/** By colour scheme. Only what is wrong is put together in full. */
const schemes = {
  light: { resultTypes: ['violations'] },
  dark: { resultTypes: ['violations'], runOnly: OF_COLOURS },
} as const;

/** Looks at the page as it is, in light and in dark; each finding begins with its scheme. */
export async function violationsOn(page: Page): Promise<string[]> {
  await page.evaluate(await program);
  const found: string[] = [];
  for (const [colorScheme, wish] of Object.entries(schemes)) {
    await page.emulateMedia({ colorScheme: colorScheme as keyof typeof schemes, reducedMotion: 'reduce' });
    const some = await page.evaluate<string[]>(`axe.run(${JSON.stringify(wish)}).then(({ violations }) =>
      violations.map(({ id, nodes: [node] }) => [id, node.html.slice(0, 200), node.failureSummary].join(' ')))`);
    found.push(...some.map((one) => `${colorScheme}: ${one}`));
  }
  return found;
}
