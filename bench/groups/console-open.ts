/**
 * Events of `rewards serve` while nobody looks, and while somebody does: two pages of its console in Chromium, fifty streams like
 * tabs of other browsers, and the view at a terminal.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRpc } from '../../src/chain/rpc/rpc.ts';
import { settings } from '../../src/compose/config.ts';
import { median } from '../report/statistics.ts';
import {
  type Browser,
  type ControlHost,
  chromiumPath,
  clickThrough,
  heapKb,
  openStreams,
  startBrowser,
} from '../setup/console.ts';
import { startProgram } from '../setup/processes.ts';
import { type Bench, withScope } from '../setup/scope.ts';
import { verified } from '../setup/service.ts';
import { openTerminalView, terminalMissing } from '../setup/terminal-view.ts';
import type { ConsoleOpen, Found } from './found.ts';
import { serveBrand, serveFixture } from './instant.ts';
import type { Plan } from './plan.ts';
import { measure, perSecond, problemsOf, type Subject } from './rounds.ts';
import { allPaid, eventLoad } from './subjects.ts';

const EVENTS = 10_000;
/** Before them, so that neither V8 nor the first blocks are measured. */
const WARM_UP_EVENTS = 1_000;
/** More than a lone developer has at once, and less than hundreds, of which a click would be one. */
const CALLERS = 64;
const STREAMS = 50;
const PAGES = ['/', '/console/requests'];
/** As many rounds as others have: a few percent are less than two rounds of the same differ by. */
const TIMES = 3;
/** Between two clicks: somebody reads. */
const READS_MS = 300;
/** No round lasts longer. */
const ROUND_SECONDS = 600;

export async function measureConsoleOpen(bench: Bench, plan: Plan): Promise<Found> {
  const chromium = chromiumPath();
  if (chromium === undefined) {
    bench.say('without Chromium (REWARDS_TEST_CHROMIUM) the console is not measured');
    return { rounds: {} };
  }
  if (terminalMissing()) {
    bench.say('without a pseudo-terminal (script, of util-linux) the console is not measured');
    return { rounds: {} };
  }
  const round: Round = { bench, plan, chromium };
  const found: ConsoleOpen = {
    ...{ closed: [], open: [], heapKb: [], streams: [], interactionMs: [], drawn: [] },
    cpuMsEach: { closed: [], open: [] },
  };
  const keep = (name: 'closed' | 'open', { rate, cpuMsEach }: Events) => {
    found[name].push(rate);
    found.cpuMsEach[name].push(cpuMsEach);
  };
  const closed = async () => {
    keep('closed', await onFreshStack(round, 'closed', whileBlank));
  };
  const open = async () => {
    const work = (stack: Stack) => whileOpen(stack, found, () => stack.events());
    keep('open', await onFreshStack(round, 'open', work));
  };
  // The order turns, so that a machine that gets slower meets both.
  for (let number = 0; number < plan.rounds * TIMES; number++)
    for (const one of number % 2 === 0 ? [closed, open] : [open, closed]) await one();
  await onFreshStack(round, 'open, and somebody clicks', (stack) =>
    whileOpen(stack, found, (pages) => clickedMeanwhile(stack, found, pages)),
  );
  const { interactionMs } = found;
  const [middle, longest] = [median(interactionMs), Math.max(...interactionMs)];
  bench.say(`${interactionMs.length} clicks: p50 ${middle} ms, the longest ${longest} ms`);
  return { rounds: {}, consoleOpen: found };
}

interface Round {
  bench: Bench;
  plan: Plan;
  chromium: string;
}

interface Stack {
  bench: Bench;
  folder: string;
  control: ControlHost;
  browser: Browser;
  events: () => Promise<Events>;
}

interface Events {
  /** Paid in a second. */
  rate: number;
  cpuMsEach: number;
}

/** Anvil's blocks cost by what its chain holds, so that each round has a stack of its own. */
function onFreshStack(
  { bench, plan, chromium }: Round,
  name: string,
  work: (stack: Stack) => Promise<Events>,
): Promise<Events> {
  return withScope(bench, async ({ folder, started }) => {
    writeFileSync(join(folder, 'seed.yaml'), serveFixture);
    const serve = await started(
      startProgram(
        ['serve', '--quiet', '--port', '0', '--rpc-port', '0', '--persist-to', 'data', '--seed', 'seed.yaml'],
        { env: {}, cwd: folder, profile: plan.profile },
      ),
    );
    const rpc = createRpc({ url: serve.urls.rpc, ...settings.rpc, timeoutMs: 30_000 });
    const subject: Subject = {
      load: eventLoad([serve.url], serveBrand),
      pids: [serve.pid],
      settled: allPaid(rpc, { contracts: serve.contracts, brands: [serveBrand] }),
    };
    const sent = (most: number) =>
      measure(bench.generator, subject, { callers: CALLERS, seconds: ROUND_SECONDS, most });
    const events = async () => {
      const measured = await sent(EVENTS);
      for (const problem of problemsOf(measured)) bench.say(`console ${name}: ${problem}`);
      return { rate: perSecond(measured), cpuMsEach: (measured.processMs ?? 0) / measured.answered };
    };
    const control = { url: serve.urls.control, token: serve.controlToken };
    const browser = await started(startBrowser(chromium, control));
    await sent(WARM_UP_EVENTS);
    const done = await work({ bench, folder, control, browser, events });
    const { rate, cpuMsEach } = done;
    bench.say(
      `console ${name}: ${Math.round(rate)} events a second, ${cpuMsEach.toFixed(3)} ms of the service each`,
    );
    await verified({ env: {}, cwd: folder });
    return done;
  });
}

/** A browser with as many tabs takes its share of a small machine whatever they show: that is not the console's. */
async function whileBlank({ browser, events }: Stack): Promise<Events> {
  const close = await browser.openBlank(PAGES.length);
  const done = await events();
  await close();
  return done;
}

type Pages = Awaited<ReturnType<Browser['open']>>['pages'];

/** Everything is open while `work` goes on; what pages hold, and which streams live, is looked at before they close. */
async function whileOpen<T>(
  { bench, folder, control, browser }: Stack,
  found: ConsoleOpen,
  work: (pages: Pages) => Promise<T>,
): Promise<T> {
  const streams = await openStreams(control, STREAMS);
  const terminal = await openTerminalView(folder);
  const { pages, close } = await browser.open(PAGES);
  const held = async () => {
    let sum = 0;
    for (const page of pages) sum += await heapKb(page);
    return sum;
  };
  const before = await held();
  const done = await work(pages);
  const after = await held();
  const alive = streams.alive();
  const heap = `${Math.round(before)} KB before and ${Math.round(after)} KB after`;
  const drawn = terminal.drawn();
  bench.say(
    `the pages hold ${heap}; ${alive} of ${STREAMS} streams live; the terminal was drawn ${drawn} times`,
  );
  found.heapKb.push({ before, after });
  found.streams.push({ opened: STREAMS, alive });
  found.drawn.push(drawn);
  await close();
  await terminal.stop();
  streams.close();
  return done;
}

/** Clicks through the list of requests for as long as events are sent. */
async function clickedMeanwhile({ events }: Stack, found: ConsoleOpen, [, page]: Pages): Promise<Events> {
  let isOver = false;
  const sent = events().finally(() => {
    isOver = true;
  });
  while (!isOver && page) {
    // The filter, a request of what it finds, and back to the list.
    for (const selector of [
      'form.filter button[type=submit]',
      'tbody a[href*="/console/requests/req_"]',
      'nav a[href$="/console/requests"]',
    ]) {
      const took = await clickThrough(page, selector);
      if (!isOver) found.interactionMs.push(took);
      await delay(READS_MS);
    }
  }
  return sent;
}
