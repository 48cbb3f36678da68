/** Events of `rewards serve` while nobody looks, and while its console is open: two pages in Chromium, and fifty streams like tabs of other browsers. */
import { writeFileSync } from 'node:fs';
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
import type { ConsoleOpen, Found } from './found.ts';
import { serveBrand, serveFixture } from './instant.ts';
import type { Plan } from './plan.ts';
import { measure, perSecond, problemsOf, type Subject } from './rounds.ts';
import { allPaid, eventLoad } from './subjects.ts';

const EVENTS = 10_000;
/** As a developer's own load has them: enough to keep the process busy, few enough that a page is not one of hundreds who wait. */
const CALLERS = 16;
const STREAMS = 50;
const PAGES = ['/', '/console/requests'];
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
  return withScope(bench, async ({ folder, started }) => {
    writeFileSync(`${folder}/seed.yaml`, serveFixture);
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
    const control = { url: serve.urls.control, token: serve.controlToken };
    const browser = await started(startBrowser(chromium, control));
    const measured = await measureBoth({ bench, plan, subject, control, browser });
    const rewards = await verified({ env: {}, cwd: folder });
    bench.say(`rewards verify: ${rewards} rewards of serve, no difference`);
    return { rounds: {}, consoleOpen: measured };
  });
}

interface Measuring {
  bench: Bench;
  plan: Plan;
  subject: Subject;
  control: ControlHost;
  browser: Browser;
}

/** The order turns in every round: a chain that grows makes what comes second slower. */
async function measureBoth(of: Measuring): Promise<ConsoleOpen> {
  const { bench, plan, subject } = of;
  const events = async (name: string) => {
    const one = await measure(bench.generator, subject, {
      callers: CALLERS,
      seconds: ROUND_SECONDS,
      most: EVENTS,
    });
    for (const problem of problemsOf(one)) bench.say(`console ${name}: ${problem}`);
    bench.say(`console ${name}: ${Math.round(perSecond(one))} events a second`);
    return perSecond(one);
  };
  await events('warm-up');
  const found: ConsoleOpen = { closed: [], open: [], heapKb: [], streams: [], interactionMs: [] };
  const closed = async () => found.closed.push(await events('closed'));
  const open = () =>
    whileOpen(of, found, async () => {
      found.open.push(await events('open'));
    });
  for (let round = 0; round < plan.rounds; round++)
    for (const one of round % 2 === 0 ? [closed, open] : [open, closed]) await one();
  await whileOpen(of, found, async ([, requests]) => {
    let isOver = false;
    const ended = events('open, and somebody clicks').finally(() => {
      isOver = true;
    });
    while (!isOver && requests) found.interactionMs.push(...(await lookAround(requests)));
    await ended;
  });
  const { interactionMs } = found;
  bench.say(
    `${interactionMs.length} clicks: p50 ${median(interactionMs)} ms, the longest ${Math.max(...interactionMs)} ms`,
  );
  return found;
}

type Pages = Awaited<ReturnType<Browser['open']>>['pages'];

/** Everything is open while `work` goes on; what pages hold, and which streams live, is looked at before they close. */
async function whileOpen(
  { bench, control, browser }: Measuring,
  found: ConsoleOpen,
  work: (pages: Pages) => Promise<void>,
): Promise<void> {
  const streams = await openStreams(control, STREAMS);
  const { pages, close } = await browser.open(PAGES);
  const held = async () => {
    let sum = 0;
    for (const page of pages) sum += await heapKb(page);
    return sum;
  };
  const before = await held();
  await work(pages);
  const after = await held();
  const alive = streams.alive();
  bench.say(
    `its pages hold ${Math.round(before)} KB before and ${Math.round(after)} KB after; ${alive} of ${STREAMS} streams live`,
  );
  found.heapKb.push({ before, after });
  found.streams.push({ opened: STREAMS, alive });
  await close();
  streams.close();
}

/** The filter, a request of what it finds, and back to the list. */
async function lookAround(page: Pages[number]): Promise<number[]> {
  const took: number[] = [];
  for (const selector of [
    'form.filter button[type=submit]',
    'tbody a[href*="/console/requests/req_"]',
    'nav a[href$="/console/requests"]',
  ]) {
    took.push(await clickThrough(page, selector));
    await delay(READS_MS);
  }
  return took;
}
