/** That the measurements run, and the shape of what they print and write; how quick anything is, no test says. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { attribute, partOf as partOfEvent } from '../bench/budget/attribute.ts';
import { budget } from '../bench/budget/parts.ts';
import { budgetLines, budgetTable } from '../bench/budget/report.ts';
import { enduranceOf, endurancePictures, enduranceText } from '../bench/endurance/report.ts';
import { trendOf } from '../bench/endurance/trend.ts';
import type { ConsoleOpen, Found, Rounds } from '../bench/groups/found.ts';
import { sizesUpTo } from '../bench/groups/growth.ts';
import type { LoadResult } from '../bench/load/load.ts';
import { runLoad } from '../bench/load/run-load.ts';
import { mergedRows, partOf, withPart } from '../bench/report/docs.ts';
import { plotsOf } from '../bench/report/pictures.ts';
import { rowsOf } from '../bench/report/rows.ts';
import { median } from '../bench/report/statistics.ts';
import { generatorText, roundsTable, rowsTable } from '../bench/report/tables.ts';
import { type RowId, targets } from '../bench/report/targets.ts';
import { drawPlot } from '../src/lib/plots/line-plot.ts';
import { ticksUpTo } from '../src/lib/plots/ticks.ts';

const rounds = (rate: number[], cpuMsEach: number[]): Rounds => ({
  rate,
  cpuMsEach,
  busy: { process: [0.9], chain: [], generator: [0.2] },
  p50Ms: [10],
  p99Ms: [20],
});
const latencies = { answered: 5, p50Ms: 8, p90Ms: 12, p99Ms: 90, p999Ms: 120, maxMs: 130 };
const level = { growth: 0.01, limit: 0.1, isLevel: true };
const found: Found = {
  rounds: {
    naive: rounds([3_000, 4_000, 5_000], [0.1]),
    events: rounds([6_000, 5_000, 7_000], [0.09]),
    raw: rounds([2_000], [0.5]),
    relays: rounds([100], [9.6]),
    'relays-many': rounds([1_000], [1.1]),
    'naive-instant': rounds([4_000], [0.1]),
    instant: rounds([2_000], [0.3]),
    'naive-postgres': rounds([4_000], [0.2]),
    postgres: rounds([4_000], [0.2]),
  },
  generator: { perSecond: 20_000, busy: 0.99, serverBusy: 0.4 },
  latency: { ...latencies, perSecond: 3_000, callers: 512 },
  concurrency: [1, 8].map((callers) => ({ callers, perSecond: callers * 100, p50Ms: 9, p99Ms: 20 })),
  replicas: [1, 2].map((processes) => ({ processes, perSecond: 900, p99Ms: 20 })),
  growth: [1_000, 1_000_000].map((claims) => ({
    claims,
    rounds: rounds([claims > 1_000 ? 950 : 1_000], [0.1]),
  })),
  gas: [1, 200].map((batch) => ({
    ...{ batch, gas: batch * 25_000, calldataBytes: batch * 23, baselineGas: batch * 25_600 },
  })),
  starts: { serve: [400, 600, 500], help: [70], node: [40] },
  memory: { events: 1_000_000, residentMb: 240, trend: { ...level, isLevel: false } },
  consoleOpen: {
    ...{ closed: [1_000, 900, 1_100], open: [980, 900, 1_000], interactionMs: [40, 60, 300] },
    cpuMsEach: { closed: [0.5], open: [0.51] },
    heapKb: [{ before: 5_000, after: 5_100 }],
    drawn: [60],
    streams: [{ opened: 50, alive: 50 }],
  },
  verify: { rewards: 1_000_000, seconds: 40, peakMb: 260, leasesLost: 0, differences: 0 },
};

describe('rows', () => {
  const rows = rowsOf(found);
  const held = Object.fromEntries(rows.map(({ id, value, ratio, met }) => [id, [value, ratio, met]]));

  test('a row has its value, its baseline of the same run, their ratio, and whether the target is met', () => {
    expect(rows[0]).toEqual({
      ...{ id: 'events-sqlite', value: 6_000, unit: 'events/s', baseline: 4_000, ratio: 1.5 },
      ...{ target: 1.5, met: true },
    });
    expect(held).toMatchObject({
      'events-instant': [2_000, 0.5, true],
      'events-postgres': [4_000, 1, false],
      'events-vs-chain': [6_000, 3, false],
      'relay-vs-chain': [100, 0.05, false],
      'relay-vs-chain-many': [1_000, 0.5, true],
      'cpu-per-event': [0.09, null, true],
      'cpu-per-relay': [9.6, null, false],
      'latency-p50': [8, null, true],
      'latency-p99': [90, null, false],
      growth: [950, 0.95, true],
      'gas-per-reward': [25_000, 0.977, true],
      'calldata-per-reward': [23, null, true],
      'serve-ready': [0.5, null, true],
      help: [70, null, true],
      'console-open': [980, 0.98, true],
      'console-click': [60, null, true],
      verify: [40, null, true],
      'verify-memory': [260, null, false],
    });
    expect(rowsTable(rows).split('\n')).toHaveLength(rows.length + 1);
  });

  test('every target has its row, and a load that was not measured has none', () => {
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(Object.keys(targets)));
    expect(rowsOf({ rounds: { events: found.rounds.events } }).map(({ id }) => id)).toEqual([
      'cpu-per-event',
    ]);
  });

  test('memory below its limit that still grows does not meet its target', () => {
    expect(held.memory).toEqual([240, null, false]);
  });
});

test('a console that holds more and more, or whose streams end, does not meet its target', () => {
  const rowOf = (change: Partial<ConsoleOpen>) =>
    rowsOf({ rounds: {}, consoleOpen: { ...(found.consoleOpen as ConsoleOpen), ...change } })[0]?.met;
  expect(rowOf({})).toBe(true);
  expect(rowOf({ heapKb: [{ before: 5_000, after: 6_000 }] })).toBe(false);
  expect(rowOf({ streams: [{ opened: 50, alive: 49 }] })).toBe(false);
});

test('a median is the middle one, or lies between the two in the middle', () => {
  expect([median([9, 1, 5]), median([4, 2])]).toEqual([5, 3]);
});

test('how busy the generator was is said of every measurement, and what it manages alone', () => {
  const [head, ...lines] = roundsTable(found).split('\n');
  expect(head).toMatch(/generator$/);
  expect(lines.every((line) => line.endsWith('20 %'))).toBe(true);
  expect(lines).toHaveLength(11);
  expect(generatorText(found)).toContain('20000 requests a second');
});

test('ledgers of growth begin at a thousand claims and grow tenfold', () => {
  expect(sizesUpTo(1_000_000)).toEqual([1_000, 10_000, 100_000, 1_000_000]);
  expect(sizesUpTo(3_000)).toEqual([1_000, 3_000]);
});

describe('the load generator', () => {
  const requests = { kind: 'new users' as const, body: '{"user":"{n}"}' };

  /** A server that answers after `answerAfterMs`; every tenth request is refused. */
  async function withServer<T>(answerAfterMs: number, use: (url: string, bodies: string[]) => Promise<T>) {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        bodies.push(body);
        response.statusCode = bodies.length % 10 === 0 ? 429 : 200;
        setTimeout(() => response.end('{"success":true}'), answerAfterMs);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }
  const total = ({ answered, others }: LoadResult) => answered + (others[429] ?? 0);

  test('a closed loop sends as much as it is asked for, each request of a new user, and tells refusals apart', async () => {
    await withServer(0, async (url, bodies) => {
      const load = { urls: [url], requests, headers: {}, callers: 4, seconds: 60, most: 40 };
      const result = await runLoad(load);
      expect([total(result), result.others]).toEqual([40, { 429: 4 }]);
      expect(new Set(bodies).size).toBe(40);
      expect(result.firstOther).toBe('{"success":true}');
    });
  });

  test('an open loop counts the wait for a connection: one that answers late makes all that follow late', async () => {
    await withServer(20, async (url) => {
      // Twenty are due within 20 ms, and one connection carries one in 20 ms.
      const load = { urls: [url], requests, headers: {}, callers: 1, seconds: 0.02, perSecond: 1_000 };
      const result = await runLoad({ ...load, spanSeconds: 60 });
      expect(total(result)).toBe(20);
      expect(result.p50Ms).toBeGreaterThan(150);
      expect(result.spans.map(({ answered }) => answered)).toEqual([result.answered]);
    });
  });
});

describe('plots', () => {
  test('every figure with several points has its picture, readable in light and dark', () => {
    const pictures = plotsOf(found);
    expect(pictures.map(({ name }) => name)).toEqual([
      ...['concurrency', 'concurrency-latency', 'latency', 'growth', 'gas', 'calldata', 'replicas'],
    ]);
    for (const { svg } of pictures) {
      expect(svg).toMatch(/^<svg .*<\/svg>\n$/s);
      expect(svg).toContain('prefers-color-scheme:dark');
      expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    }
  });

  test('the axis begins at 0 and ends above the highest point', () => {
    expect(ticksUpTo(900)).toEqual([0, 250, 500, 750, 1_000]);
    expect(ticksUpTo(0)).toEqual([0, 1]);
  });

  test('on a logarithmic axis 0 stands where the least value does, and a place there is', () => {
    for (const xs of [[0, 1, 100], [0], [0, 10]]) {
      const points = xs.map((x) => ({ x, y: 1 }));
      const plot = { title: 'Zero', x: { label: 'x', scale: 'log' as const }, y: { label: 'y' } };
      expect(drawPlot({ ...plot, series: [{ name: 'one', points }] })).not.toMatch(/NaN|Infinity/);
    }
  });

  test('a line may have more points than a call has room for', () => {
    const points = Array.from({ length: 200_000 }, (_, x) => ({ x, y: x % 7 }));
    const plot = { title: 'Long', x: { label: 'x', scale: 'linear' as const }, y: { label: 'y' } };
    expect(drawPlot({ ...plot, series: [{ name: 'one', points }] })).not.toMatch(/NaN|Infinity/);
  });

  test('a plot of nothing is an error', () => {
    const plot = { title: 'Nothing', x: { label: 'x', scale: 'linear' as const }, y: { label: 'y' } };
    expect(() => drawPlot({ ...plot, series: [] })).toThrow('Nothing: there is no point to draw');
  });
});

describe('whether something is level', () => {
  test('a line that rises by more than the limit is not; noise, an outlier and a fall are', () => {
    const rising = Array.from({ length: 30 }, (_, minute) => 200 + minute * 2);
    const noisy = Array.from({ length: 30 }, (_, minute) => 200 + (minute % 3));
    expect(trendOf(rising, 0.1)).toMatchObject({ isLevel: false });
    expect(trendOf(noisy, 0.1)).toMatchObject({ isLevel: true });
    expect(trendOf([...noisy, 900], 0.1)).toMatchObject({ isLevel: true });
    expect(trendOf(rising.reverse(), 0.1)).toMatchObject({ isLevel: true });
  });
});

test('a long load that is level says so, and one whose memory grows does not', () => {
  const minutes = Array.from({ length: 30 }, () => ({ ...latencies, answered: 6_000 }));
  const samples = (growing: number) =>
    Array.from({ length: 1_800 }, (_, seconds) => ({
      seconds,
      serviceMb: 200 + seconds * growing,
      chainMb: 50,
    }));
  const seen = { rate: 100, answered: 180_000, problems: [], minutes };
  expect(enduranceText(enduranceOf({ ...seen, samples: samples(0) }))).toContain('Resident memory: level');
  const growing = enduranceOf({ ...seen, samples: samples(0.05) });
  expect(enduranceText(growing)).toContain('Resident memory: not level');
  for (const { svg } of endurancePictures(growing)) expect(svg).not.toMatch(/NaN|undefined/);
});

describe('the budget of an event', () => {
  test('is what the target of cpu-per-event allows', () => {
    const together = Object.values(budget).reduce((sum, { microseconds }) => sum + microseconds, 0);
    expect(together).toBe(targets['cpu-per-event'].most * 1_000);
  });

  test('a source belongs to the longest path of the table that it begins with', () => {
    expect(
      [
        ...['src/ledger/rewards/claims.ts', 'src/ledger/request-traces.ts', 'src/chain/indexer/indexer.ts'],
        ...['/home/me/node_modules/zod/v4/core/parse.js', 'node:_http_server', 'src/somewhere/else.ts'],
      ].map(partOfEvent),
    ).toEqual(['ledger', 'traces', 'follow', 'read', 'read', undefined]);
  });

  test('a sample counts for its nearest known source, inside the window alone, and not while it was idle', () => {
    const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 0, columnNumber: 0 });
    const profile = {
      nodes: [
        { id: 1, callFrame: frame('(root)'), children: [2, 4, 5, 6] },
        { id: 2, callFrame: frame('decide', 'src/actions/events/decide-events.ts'), children: [3] },
        { id: 3, callFrame: frame('sort') },
        { id: 4, callFrame: frame('(idle)') },
        { id: 5, callFrame: frame('(garbage collector)') },
        { id: 6, callFrame: frame('unknown') },
      ],
      startTime: 0,
      samples: [2, 3, 4, 5, 6, 3],
      timeDeltas: [10, 20, 30, 40, 50, 60],
    };
    const spent = attribute(profile, [{ from: 5, to: 200 }], ({ url }) => url);
    expect(spent).toMatchObject({ decide: 30, garbage: 40, rest: 50, ledger: 0 });
    const lines = budgetLines(spent, { events: 10, processUs: 150 });
    expect(lines.map(({ part, cost }) => [part, cost])).toEqual(
      expect.arrayContaining([
        ...[
          ['decide', 3],
          ['other threads', 3],
          ['together', 15],
        ],
      ]),
    );
    expect(budgetTable(lines).split('\n')).toHaveLength(lines.length + 1);
  });
});

describe('docs/performance.md', async () => {
  const page = await readFile(new URL('../docs/performance.md', import.meta.url), 'utf8');
  const order = Object.keys(targets) as RowId[];

  test('a run puts its rows in place of theirs and leaves the others', () => {
    const old = mergedRows('', rowsOf(found), { on: '2026-01-01', order });
    const events = { naive: found.rounds.naive, events: rounds([8_000], [0.05]) };
    const merged = mergedRows(old, rowsOf({ rounds: events }), { on: '2026-01-02', order });
    const dates = merged
      .split('\n')
      .flatMap((line) => /^\| `([\w-]+)`.*(\d\d) \|$/.exec(line)?.slice(1, 3).join() ?? []);
    expect(dates).toHaveLength(order.length);
    expect(dates.filter((line) => line.endsWith('02'))).toEqual(['events-sqlite,02', 'cpu-per-event,02']);
  });

  test('it has the marks between which runs write', () => {
    for (const name of ['rows', 'rounds', 'pictures', 'budget', 'endurance']) {
      expect(partOf(page, name).length).toBeGreaterThan(0);
      const changed = withPart(page, name, 'something else');
      expect(partOf(changed, name)).toBe('something else');
      expect(withPart(changed, name, partOf(page, name))).toBe(page);
    }
  });

  test('every row is explained', () => {
    for (const id of order) expect(page).toContain(`\`${id}\``);
  });
});

test('its modules are loaded by Node itself, and each says what may come after it', async () => {
  const bench = new URL('../scripts/bench.js', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [bench, '--help']);
  expect(stdout.split('\n').filter((line) => line.startsWith('npm'))).toEqual([
    'npm run bench --',
    'npm run bench -- verify',
    'npm run bench -- leaderboard',
    'npm run bench -- memory',
    'npm run bench -- budget',
    'npm run bench -- endurance',
  ]);
  expect(stdout).toContain('--database …     an empty database of Postgres; without one, SQLite\n');
});
