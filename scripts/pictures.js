/** `npm run pictures`: runs the commands of the README's first page and draws what they print as docs/images/*.svg, and the checkout page, the console and the demo site as they look. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inBothColours } from './browser-pictures.js';
import { drawConsole } from './console-pictures.js';
import { liveViewOf } from './live-view-picture.js';
import { noteShown } from './picture-sources.js';
import { drawSite } from './site-pictures.js';

const program = new URL('../bin/rewards.js', import.meta.url).pathname;
const images = new URL('../docs/images/', import.meta.url);

const COLUMNS = 118;
const CHARACTER_PX = 8;
const LINE_PX = 18;
const MARGIN_PX = 16;
/** What the terminal's colours are in the pictures, by the number of their escape sequence. */
const STYLES = {
  1: 'font-weight="bold"',
  2: 'fill="#8b949e"',
  31: 'fill="#ff7b72"',
  32: 'fill="#7ee787"',
  33: 'fill="#d29922"',
  36: 'fill="#76e3ea"',
};
const SEQUENCE = /\u001b\[([\d;]*)m/;

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Every odd part of a line that is split at its escape sequences has numbers: of styles, or of what ends them. */
function lineSvg(line, y) {
  const parts = line.split(SEQUENCE);
  let style = '';
  let left = COLUMNS;
  const spans = parts.flatMap((part, index) => {
    if (index % 2 === 1) {
      style = part
        .split(';')
        .map((number) => STYLES[number] ?? '')
        .join(' ')
        .trim();
      return [];
    }
    const shown = part.length > left ? `${part.slice(0, left - 1)}…` : part;
    left -= shown.length;
    return shown === '' ? [] : [`<tspan${style && ` ${style}`}>${escaped(shown)}</tspan>`];
  });
  return `<text x="${MARGIN_PX}" y="${y}" xml:space="preserve">${spans.join('')}</text>`;
}

function svg(text) {
  const lines = text.trimEnd().split('\n');
  const width = COLUMNS * CHARACTER_PX + 2 * MARGIN_PX;
  const height = lines.length * LINE_PX + 2 * MARGIN_PX;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="13" fill="#e6edf3">
${lines.map((line, index) => lineSvg(line, MARGIN_PX + 13 + index * LINE_PX)).join('\n')}
</g></svg>
`;
}

const folder = await mkdtemp(join(tmpdir(), 'rewards-pictures-'));
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(REWARDS_|NO_COLOR$|FORCE_COLOR$)/.test(name)),
);

/** Starts a command as a reader of the README types it; `text` is all that it has printed. */
function start(...args) {
  const child = spawn(process.execPath, [program, ...args, '--color', 'always'], {
    cwd: folder,
    env: { ...environment, npm_command: 'exec' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run = { child, text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      run.text += text;
    });
  return run;
}

const prompt = (...args) => `\u001b[32m$\u001b[39m npx rewards ${args.join(' ')}\n`;

async function shown(...args) {
  const run = start(...args);
  await once(run.child, 'close');
  return prompt(...args) + run.text;
}

/** The banner's link, with the token that lets a browser in. */
function controlOf(banner) {
  const [link] = /http:\S+\/_rewards\S*token=[\w-]+/.exec(banner) ?? [];
  if (!link) throw new Error(banner);
  return link;
}

const event = ['send-event', 'account_creation', '--user', 'alice@demo.example'];
const serve = start('serve');
try {
  // The example with curl is the end of what is printed.
  while (!serve.text.includes('"domain": "demo.example" }')) {
    if (serve.child.exitCode !== null) throw new Error(serve.text);
    await Promise.race([once(serve.child.stdout, 'data'), once(serve.child, 'close')]);
  }
  // A reader's own project, and a token that opens nothing.
  const banner = serve.text
    .replaceAll(folder, '~/my-project')
    .replace(/\?token=[\w-]+/, '?token=tFN3C46Mfh61WwewNCXGwwOlCsaMwZ1E');
  await writeFile(new URL('serve.svg', images), svg(`${prompt('serve')}\n${banner}`));
  await writeFile(
    new URL('send-event.svg', images),
    svg(`${await shown(...event)}\n${await shown(...event)}`),
  );
  await shown('clock', 'advance', '61s');
  await shown(...event);
  await writeFile(new URL('explain.svg', images), svg(await shown('requests', 'explain', 'latest')));
  const mistaken = await readFile(new URL('../scenarios/duplicates.yaml', import.meta.url), 'utf8');
  await writeFile(join(folder, 'duplicates.yaml'), mistaken.replace('status: 409', 'status: 200'));
  const run = await shown('scenario', 'run', 'duplicates.yaml', '--keep-on-fail', 'kept');
  await writeFile(
    new URL('scenario.svg', images),
    svg(run.replaceAll(folder, '~/my-project').replace(/(curl -X POST)[^\n]*/, '$1 …')),
  );
  for (const user of ['bob', 'carol', 'bob'])
    await shown('send-event', 'form_submit', '--user', `${user}@demo.example`);
  const view = await liveViewOf({ folder, program, environment, columns: COLUMNS, rows: 24 });
  await writeFile(new URL('live-view.svg', images), svg(`${prompt('top')}\n${view}`));
  const created = await shown('checkout', 'create', '--amount', '500', '--user', 'alice@demo.example');
  const [page] = /http:\S+\/_pay\/\w+/.exec(created) ?? [];
  if (!page) throw new Error(created);
  await writeFile(new URL('checkout.png', images), await inBothColours(page, { width: 500, height: 740 }));
  const [site] = /http:\S+\/site\b/.exec(serve.text) ?? [];
  if (!site) throw new Error(serve.text);
  await drawConsole({ control: controlOf(serve.text), images, shown });
  await drawSite({ site, images, nextDay: () => shown('clock', 'advance', '24h') });
} finally {
  const closed = once(serve.child, 'close');
  serve.child.kill('SIGTERM');
  await closed;
  await rm(folder, { recursive: true, force: true });
}
await noteShown();
